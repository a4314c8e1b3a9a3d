/** Who waits for each signal; an entry lives as long as its signal and somebody waiting. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when a signal aborts, at once when it has. However many wait for one signal, it
 * gets one listener: a search over many connectors would otherwise look like a leak.
 * @returns what ends the waiting
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const callbacks = waiting.get(signal) ?? listen(signal);
  // Two waiters may pass the same function.
  const own = () => callback();
  callbacks.add(own);
  return () => callbacks.delete(own);
}

function listen(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>();
  waiting.set(signal, callbacks);
  signal.addEventListener("abort", () => callbacks.forEach((each) => each()), { once: true });
  return callbacks;
}
