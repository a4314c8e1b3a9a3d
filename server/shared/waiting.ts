import { onAbort } from "./aborts.ts";
import { fail, type Failed, type Outcome } from "./failure.ts";

/**
 * Waits for work that others share only as long as one caller lives; the work goes on.
 * @param what subject of the message of `cancelled`
 */
export async function unlessAborted<Result extends Outcome<unknown>>(
  work: Promise<Result>,
  signal: AbortSignal,
  what: string,
): Promise<Result | Failed> {
  let off = () => {};
  const aborted = new Promise<Failed>((resolve) => {
    off = onAbort(signal, () => resolve(fail("cancelled", `${what} is not waited for any more.`)));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    off();
  }
}
