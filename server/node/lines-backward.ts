import type { FileHandle } from "node:fs/promises";

const PIECE_BYTES = 64 * 1024;
/** No line of ours is longer. */
const MAX_LINE_BYTES = 1024 * 1024;
const LINE_END = 10;

/**
 * The lines of a file from its last to its first, without their ends. What follows the last line
 * end is no line yet; what comes before something too long for a line is not read.
 * @param size bytes of the file that are read
 */
export async function* linesBackward(handle: FileHandle, size: number): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  let isTail = true;
  for (let end = size; end > 0 && rest.length <= MAX_LINE_BYTES;) {
    const start = Math.max(0, end - PIECE_BYTES);
    const piece = Buffer.alloc(end - start);
    const { bytesRead } = await handle.read(piece, 0, piece.length, start);
    // The file became shorter while it was read.
    if (bytesRead < piece.length) return;
    const bytes = rest.length === 0 ? piece : Buffer.concat([piece, rest]);
    let cut = bytes.length;
    for (let at = lineEnd(bytes, cut); at >= 0; at = lineEnd(bytes, cut)) {
      if (!isTail && cut > at + 1) yield bytes.toString("utf8", at + 1, cut);
      isTail = false;
      cut = at;
    }
    rest = bytes.subarray(0, cut);
    end = start;
  }
  if (!isTail && rest.length > 0 && rest.length <= MAX_LINE_BYTES) yield rest.toString("utf8");
}

/** Where the last line end before a place lies; -1 when there is none. */
function lineEnd(bytes: Buffer, before: number): number {
  return before === 0 ? -1 : bytes.lastIndexOf(LINE_END, before - 1);
}
