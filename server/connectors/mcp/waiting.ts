import { onAbort } from "../../shared/aborts.ts";
import { fail, type Outcome } from "../../shared/failure.ts";

/**
 * Waits for work that others share only as long as one caller lives; the work goes on.
 * @param what subject of the message of `cancelled`
 */
export async function unlessAborted<T>(
  work: Promise<Outcome<T>>,
  signal: AbortSignal,
  what: string,
): Promise<Outcome<T>> {
  let off = () => {};
  const aborted = new Promise<Outcome<T>>((resolve) => {
    off = onAbort(signal, () => resolve(fail("cancelled", `${what} is not waited for any more.`)));
  });
  const outcome = await Promise.race([work, aborted]);
  off();
  return outcome;
}
