/** Stands in for an executor where a config is read and nothing is run. */
export const NO_EXECUTOR = { execute: () => Promise.resolve({ result: undefined }) };

/** Control characters and marks that turn text around: a server's names reach a terminal here. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;

/** A text of somebody else's, as it may reach a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "\ufffd");
}

/** Resolves when all of it is written, to whether anybody still reads. */
export function write(text: string): Promise<boolean> {
  // The reader may also go while nothing is written: the next text finds it gone.
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => undefined);
  return new Promise((resolve) => {
    process.stdout.write(text, (error) => resolve(!error));
  });
}

/** The code of a failed reading or writing; its text holds paths alone, but no sentence. */
export function codeOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code ?? "unreadable";
}
