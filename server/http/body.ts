import { LIMITS } from "../shared/limits.ts";
import { refuse } from "./refusal.ts";

/** A request's JSON, or the answer to a body that is none. */
export type Body = { readonly json: unknown } | Response;

const PARSE_ERROR = -32_700;

/** How much of a refused body is read before the connection is given up instead, in bytes. */
const DRAIN_BYTES = 4 * LIMITS.requestBodyBytes.value;

/**
 * Reads a body of bounded size. One over the bound is read to its end, unless that is far away: a
 * client hears of a refusal only once it has sent everything, and then keeps its connection.
 */
export async function readBody(request: Request): Promise<Body> {
  const max = LIMITS.requestBodyBytes.value;
  const announced = request.headers.get("content-length");
  if (announced !== null && Number(announced) <= max) return parsed(await request.text());
  const [bytes, text] = await readBounded(request, max);
  if (text !== undefined) return parsed(text);
  const tooFar: Record<string, string> = bytes > DRAIN_BYTES ? { connection: "close" } : {};
  return refuse(413, `The body is over ${max} bytes.`, tooFar);
}

/** The bytes read, and the text if they are within the bound. */
async function readBounded(request: Request, max: number): Promise<[number, string | undefined]> {
  const decoder = new TextDecoder();
  let [bytes, text] = [0, ""];
  // Read by hand: leaving a loop over the stream would cancel it, and with it the connection.
  const reader = request.body?.getReader();
  if (!reader) return [0, ""];
  while (bytes <= DRAIN_BYTES) {
    const { done, value } = await reader.read();
    if (done) return bytes > max ? [bytes, undefined] : [bytes, text + decoder.decode()];
    bytes += value.length;
    text = bytes > max ? "" : text + decoder.decode(value, { stream: true });
  }
  return [bytes, undefined];
}

function parsed(text: string): Body {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return refuse(400, "Parse error: the body is not valid JSON.", {}, PARSE_ERROR);
  }
}
