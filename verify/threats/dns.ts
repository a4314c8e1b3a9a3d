/** One question of a DNS message. */
export interface Question {
  readonly name: string;
  readonly type: number;
}

const TYPE_A = 1;
const HEADER = 12;

/** Reads the first question of a query; `undefined` when there is none. */
export function questionOf(query: Buffer): Question | undefined {
  const labels: string[] = [];
  let at = HEADER;
  while (at < query.length) {
    const length = query.readUInt8(at);
    if (length === 0) break;
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  if (labels.length === 0 || at + 5 > query.length) return undefined;
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1) };
}

/**
 * Answers a query: one IPv4 address for a name that exists, nothing for its other types.
 * @param address of the name, four numbers; `undefined` when there is no such name
 */
export function answerTo(query: Buffer, address: readonly number[] | undefined): Buffer {
  const question = questionOf(query);
  if (!question) return Buffer.alloc(0);
  // The name with its final zero, then type and class.
  const end = HEADER + question.name.length + 2 + 4;
  const head = Buffer.alloc(HEADER);
  query.copy(head, 0, 0, 2);
  const given = address !== undefined && question.type === TYPE_A;
  head.writeUInt16BE(address === undefined ? 0x8583 : 0x8580, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(given ? 1 : 0, 6);
  const parts = [head, query.subarray(HEADER, end)];
  if (given) parts.push(Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address]));
  return Buffer.concat(parts);
}
