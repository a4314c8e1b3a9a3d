/** What the first bytes of a TLS connection say, as far as they have come. */
export type Hello =
  | { readonly complete: false }
  | { readonly complete: true; readonly name?: string };

const HANDSHAKE = 0x16;
const SERVER_NAME = 0;

/** Whether a connection begins as TLS does. */
export function isTls(bytes: Buffer): boolean {
  return bytes[0] === HANDSHAKE;
}

/** Reads the server name out of a ClientHello that fits into one record. */
export function readHello(bytes: Buffer): Hello {
  if (bytes.length < 5 || bytes.length < 5 + bytes.readUInt16BE(3)) return { complete: false };
  const name = serverName(bytes.subarray(5));
  return name === undefined ? { complete: true } : { complete: true, name };
}

function serverName(hello: Buffer): string | undefined {
  // Type and length, version, random.
  let at = 4 + 2 + 32;
  at += 1 + hello.readUInt8(at);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello.readUInt8(at);
  const end = at + 2 + hello.readUInt16BE(at);
  at += 2;
  while (at + 4 <= end) {
    const type = hello.readUInt16BE(at);
    const length = hello.readUInt16BE(at + 2);
    // A list with one entry: its length, its kind, the length of the name.
    if (type === SERVER_NAME) return hello.toString("latin1", at + 9, at + 4 + length);
    at += 4 + length;
  }
  return undefined;
}
