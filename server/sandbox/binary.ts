/** Pages that the binary asks for, and the pages that hold its data, its C stack and a context. */
const DECLARED_PAGES = 256;
const NEEDED_PAGES = 88;

/** Sections of a binary by id, and the kind of an exported table (WebAssembly core, 5.5). */
const EXPORT_SECTION = 7;
const TABLE_KIND = 1;
const PREAMBLE_BYTES = 8;

/** The name that {@link adaptBinary} exports the function table under. */
export const TABLE_EXPORT = "functions";

/** The interpreter's binary as this process wants it. */
export interface AdaptedBinary {
  readonly binary: Uint8Array<ArrayBuffer>;
  /** Pages of memory that an instance starts with. */
  readonly initialPages: number;
}

/**
 * Changes two declarations of the interpreter's binary, no code: its memory may start at what it
 * uses, so that every growth is seen, and its function table is exported, so that it can call a
 * function of ours. What does not look as expected stays as it is.
 */
export function adaptBinary(original: Uint8Array<ArrayBuffer>): AdaptedBinary {
  const exported = exportTable(original) ?? original;
  const lowered = lowerMemoryFloor(exported);
  return lowered
    ? { binary: lowered, initialPages: NEEDED_PAGES }
    : { binary: exported, initialPages: DECLARED_PAGES };
}

function lowerMemoryFloor(binary: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  // Import "a"."a": memory with a maximum, minimum 256 pages as a two-byte LEB128.
  const declared = [0x01, 0x61, 0x01, 0x61, 0x02, 0x01, 0x80, 0x02];
  const importSection = binary.subarray(0, 4096);
  const at = importSection.findIndex((_, i) =>
    declared.every((byte, offset) => importSection[i + offset] === byte),
  );
  if (at < 0) return undefined;
  const lowered = new Uint8Array(binary);
  lowered[at + 6] = NEEDED_PAGES | 0x80;
  lowered[at + 7] = 0;
  return lowered;
}

function exportTable(binary: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  let at = PREAMBLE_BYTES;
  while (at < binary.length) {
    const size = readUnsigned(binary, at + 1);
    const end = size.next + size.value;
    if (binary[at] === EXPORT_SECTION) {
      const count = readUnsigned(binary, size.next);
      const name = [...Buffer.from(TABLE_EXPORT)];
      const content = [
        ...writeUnsigned(count.value + 1),
        ...binary.subarray(count.next, end),
        ...[name.length, ...name, TABLE_KIND, 0],
      ];
      const section = [EXPORT_SECTION, ...writeUnsigned(content.length), ...content];
      return Uint8Array.from(
        Buffer.concat([binary.subarray(0, at), Buffer.from(section), binary.subarray(end)]),
      );
    }
    at = end;
  }
  return undefined;
}

/** LEB128 (WebAssembly core, 5.2.2). */
function readUnsigned(bytes: Uint8Array, from: number): { value: number; next: number } {
  let [value, next] = [0, from];
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[next++] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return { value, next };
  }
}

function writeUnsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...writeUnsigned(value >>> 7)];
}
