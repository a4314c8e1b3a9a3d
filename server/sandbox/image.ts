/** Memory that one run may add before its instance is not worth clearing. */
const MAX_GROWTH_BYTES = 8 * 1024 * 1024;

const PAGE_BYTES = 4096;

/** So much untouched stack in a row ends the search for touched one: no frame is as large. */
const QUIET_BYTES = 256 * 1024;
const STRIP_BYTES = 32 * 1024;
const UNTOUCHED = new Uint8Array(STRIP_BYTES);

/** The memory of a prepared interpreter: what every run starts from, in any instance. */
export interface Image {
  /** Size of the memory that was captured. */
  readonly bytes: number;
  /**
   * Writes the image over an instance's memory, which is then equal to the captured one byte for
   * byte; false when it has grown so much that a new one is cheaper.
   */
  restore(heap: Uint8Array): boolean;
}

/**
 * Captures an instance's memory between two calls into it. It consists of static data, a large
 * and mostly untouched C stack, and the heap; only the first and the last hold anything then.
 */
export function captureImage(heap: Uint8Array): Image {
  const { stackStart, stackEnd, end } = usedRanges(heap);
  const data = heap.slice(0, stackStart);
  const objects = heap.slice(stackEnd, end);
  const bytes = heap.length;
  return {
    bytes,
    restore(now) {
      if (now.length < bytes || now.length > bytes + MAX_GROWTH_BYTES) return false;
      now.set(data, 0);
      clearStack(now.subarray(stackStart, stackEnd));
      now.set(objects, stackEnd);
      now.fill(0, end);
      return true;
    },
  };
}

/** Clears what a run has left of the idle C stack, which grows down from its end. */
function clearStack(stack: Uint8Array): void {
  let quiet = 0;
  for (let end = stack.length; end > 0 && quiet < QUIET_BYTES; end -= STRIP_BYTES) {
    const strip = stack.subarray(Math.max(0, end - STRIP_BYTES), end);
    const untouched = Buffer.compare(strip, UNTOUCHED.subarray(0, strip.length)) === 0;
    if (untouched) quiet += strip.length;
    else {
      strip.fill(0);
      quiet = 0;
    }
  }
}

/** The largest run of untouched pages is the stack; memory after the last used page is free. */
function usedRanges(heap: Uint8Array): { stackStart: number; stackEnd: number; end: number } {
  const untouched = new Uint8Array(PAGE_BYTES);
  let [stackStart, stackEnd, end] = [0, 0, 0];
  for (let at = 0; at < heap.length; at += PAGE_BYTES) {
    const page = heap.subarray(at, at + PAGE_BYTES);
    if (Buffer.compare(page, untouched) === 0) continue;
    if (at - end > stackEnd - stackStart) [stackStart, stackEnd] = [end, at];
    end = at + PAGE_BYTES;
  }
  return { stackStart, stackEnd, end };
}
