const POLL_MS = 500;

/** Calls back when the process that started this one is gone: not every parent tells so. */
export function whenParentEnds(callback: () => void): void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    callback();
  }, POLL_MS);
  watch.unref();
}
