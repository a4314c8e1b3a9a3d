import type { ReadStream, WriteStream } from "node:tty";

/** Where a value is typed. */
export interface Terminal {
  readonly input: Pick<ReadStream, "setRawMode" | "resume" | "pause" | "setEncoding"> &
    NodeJS.EventEmitter;
  readonly output: Pick<WriteStream, "write">;
}

/**
 * Asks at a terminal without showing what is typed.
 * @returns the line, `undefined` when the person gave up (Ctrl-C, Ctrl-D)
 */
export function askHidden(
  question: string,
  { input, output }: Terminal,
): Promise<string | undefined> {
  output.write(`${question}: `);
  input.setEncoding("utf8");
  input.setRawMode(true);
  input.resume();
  return new Promise((resolve) => {
    let typed: string[] = [];
    const end = (line: string | undefined) => {
      input.off("data", onData);
      input.setRawMode(false);
      input.pause();
      output.write("\n");
      resolve(line);
    };
    // A pasted value comes at once, its line end included.
    const onData = (text: string) => {
      for (const char of text) {
        if (char === "\r" || char === "\n") return end(typed.join(""));
        if (char === "\u0003" || char === "\u0004") return end(undefined);
        if (char === "\u007f" || char === "\b") typed.pop();
        else if (char === "\u0015") typed = [];
        else if (char >= " ") typed.push(char);
      }
    };
    input.on("data", onData);
  });
}

/** Everything that a pipe brings, without the line end that tools add. */
export async function readPiped(input: NodeJS.ReadableStream, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    // One byte too many is enough to be refused.
    chunks.push(part);
    if (bytes > maxBytes + 2) break;
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}
