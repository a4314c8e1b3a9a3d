/**
 * Waits for work that another request may have begun, and no longer than some time. Where requests
 * have a context each, work ends without a word with the request that began it, and whoever goes on
 * behind it directly would go on in a stranger's place: so everyone waits in a promise of their own.
 * @param ms milliseconds
 * @returns whether the work ended in time, however it ended
 */
export async function endedWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = await new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
    work.then(
      () => resolve(true),
      () => resolve(true),
    );
  });
  clearTimeout(timer);
  return ended;
}
