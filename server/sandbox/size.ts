const KIB = 1024;
const MIB = 1024 * 1024;

/** A bound in bytes as a person reads it: in MiB or KiB where it is a whole number of them. */
export function inBytes(bytes: number): string {
  if (bytes >= MIB && bytes % MIB === 0) return `${bytes / MIB} MiB`;
  if (bytes >= KIB && bytes % KIB === 0) return `${bytes / KIB} KiB`;
  return `${bytes} bytes`;
}
