import { createConnecta, type Connecta } from "../../../server/index.ts";
import { quickjsExecutor } from "../../../server/sandbox/pool.ts";
import { callTool, type Era } from "../../support/gateway.ts";
import { DEPLOYMENT, REQUESTS } from "./requests.ts";
import { folded, type Recorded } from "./results.ts";

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** The measured times alone: deadlines and waits are part of an answer. */
const TIME =
  /(\\?"(?:ms|(?:total|admission|executor|setup|cpu|catalog|connector)Ms)\\?":)\d+(?:\.\d+)?/g;

/** Added to every answer of the newer protocol generation; it holds the version. */
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";

/** What is left of an answer without that in it which is never twice the same. */
function steady(answer: unknown): unknown {
  const text = JSON.stringify(answer)
    .replace(UUID, "00000000-0000-4000-8000-000000000000")
    .replace(TIME, "$10");
  return JSON.parse(folded(text));
}

/** Everything that was asked, and the answers. */
export type Recording = Record<string, Recorded>;

/**
 * Asks one deployment everything, and gives what it answers today in the form of the record.
 * @param eras the protocol generations to ask in, one recording for each
 */
export async function record(eras: readonly Era[]): Promise<Recording[]> {
  const connecta = createConnecta({
    ...DEPLOYMENT,
    executor: quickjsExecutor({ processes: 1 }),
    log: () => undefined,
  });
  try {
    const recordings: Recording[] = [];
    for (const era of eras) recordings.push(await askAll(connecta, era));
    return recordings;
  } finally {
    await connecta.close();
  }
}

async function askAll(connecta: Connecta, era: Era): Promise<Recording> {
  const recorded: Recording = {};
  for (const [name, { tool, args }] of Object.entries(REQUESTS)) {
    const answered = await callTool(connecta, tool, args, era);
    const { content, structuredContent, isError, _meta = {} } = answered;
    const { [SERVER_INFO]: _, ...meta } = _meta;
    const carried = Object.keys(meta).length > 0 ? { _meta: meta } : {};
    const answer = steady({ content, structuredContent, isError, ...carried });
    recorded[name] = { tool, args, answer: answer as Recorded["answer"] };
  }
  return recorded;
}
