import { shapeProblem } from "../shared/json-shape.ts";
import { LIMITS } from "../shared/limits.ts";
import { refuse } from "./refusal.ts";

/** A request's JSON, or the answer to a body that is none. */
export type Body = { readonly json: unknown } | Response;

const TOO_SLOW = "The body came too slowly: send it at once.";

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** The message, its params, and the arguments of one of the seven tools. */
const ENVELOPE_LEVELS = 3;

/** How much of a refused body is read before the connection is given up instead, in bytes. */
const DRAIN_BYTES = 4 * LIMITS.requestBodyBytes.value;

/** Reads a body of bounded size within a bounded time, in milliseconds. */
export async function readBody(request: Request, timeoutMs: number): Promise<Body> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Response>((resolve) => {
    const refusal = () => refuse(408, TOO_SLOW, { connection: "close" });
    timer = setTimeout(() => resolve(refusal()), timeoutMs);
  });
  try {
    return await Promise.race([read(request), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads a body of bounded size. One over the bound is read to its end, unless that is far away: a
 * client hears of a refusal only once it has sent everything, and then keeps its connection.
 */
async function read(request: Request): Promise<Body> {
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
  const problem = shapeProblem(text, ENVELOPE_LEVELS);
  if (problem !== undefined) return refuse(400, `The body ${problem}.`, {}, INVALID_REQUEST);
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return refuse(400, "Parse error: the body is not valid JSON.", {}, PARSE_ERROR);
  }
}
