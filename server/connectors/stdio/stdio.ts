import type { Connector, Tool, ToolResult } from "../../shared/contracts.ts";
import { readFields, type CredentialOption, type FieldsNeed } from "../../shared/credentials.ts";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { isRecord } from "../../shared/record.ts";
import { withDeadline, type Scope } from "../../shared/scope.ts";
import { Lent } from "../lent.ts";
import { readToolList } from "../mcp/catalog.ts";
import { askForPage, askForResult } from "../mcp/client.ts";
import { failureOf, type Speaker } from "../mcp/failures.ts";
import { Notices } from "../mcp/notices.ts";
import { checkCount, checkMcp, described, type McpOptions } from "../mcp/options.ts";
import { readResult } from "../mcp/result.ts";
import type { Session } from "./handshake.ts";
import { Processes, type Kept } from "./processes.ts";
import type { LifeTimes } from "./supervisor.ts";

/** Configuration of a {@link stdioMcp} connector. */
export interface StdioMcpOptions extends McpOptions {
  /** The program; found through PATH, never by a shell. */
  readonly command: string;
  readonly args?: readonly string[];
  /** All that the process finds in its environment, besides PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Values that a person hands over, and the variables that they make; see `env`. */
  readonly credential?: CredentialOption & {
    env(values: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
  };
  /** Milliseconds without a call after which the process is ended; five minutes when omitted. */
  readonly idleMs?: number;
  /** Milliseconds that a start with its handshake may take; ten seconds when omitted. */
  readonly startTimeoutMs?: number;
}

const TIMES: LifeTimes = {
  handshakeMs: 10_000,
  idleMs: 5 * 60_000,
  closeMs: 3_000,
  termMs: 2_000,
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  healthyMs: 60_000,
};

/** What processes need to find their programs and settings; Windows has more of it. */
const INHERITED =
  process.platform === "win32"
    ? ["PATH", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "PATHEXT", "TEMP"]
    : ["PATH", "HOME"];

/**
 * Makes a connector from an MCP server that runs as a process of this machine. The process starts
 * with the first call, is shared by all callers and ends when it is idle.
 * @param times of the process's life, in milliseconds, where they differ from the usual ones
 * @throws TypeError at once for an option that cannot be used; the message names it and the fix
 */
export function stdioMcp(options: StdioMcpOptions, times: Partial<LifeTimes> = {}): Connector {
  const { maxBytes, need } = checkStdio(options);
  const { id, command, args = [], env = {}, cwd, timeoutMs } = options;
  const { idleMs = TIMES.idleMs, startTimeoutMs: handshakeMs = TIMES.handshakeMs } = options;
  const notices = new Notices();
  const lent = new Lent(id, need);
  const processes = new Processes({
    id,
    launch: { command, args, env: { ...inherited(), ...env }, cwd },
    maxBytes,
    times: { ...TIMES, idleMs, handshakeMs, ...times },
    secrets: Object.values(env),
    toolsChanged: () => notices.toolsChanged(),
  });

  async function use<T>(
    what: string,
    caller: Scope,
    work: (session: Session, speaker: Speaker) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const run = async (scope: Scope): Promise<Outcome<T>> => {
      const kept = await withCredential(processes, lent, options, scope);
      if (!kept.ok) return kept;
      const speaker = { what, redact: kept.value.redact, scope };
      const used = await kept.value.supervisor.use(scope, (session) =>
        work(session, speaker).catch((error: unknown) => failureOf(error, speaker)),
      );
      return used.ok ? used.value : used;
    };
    return timeoutMs === undefined ? run(caller) : withDeadline(caller, timeoutMs, what, run);
  }

  return {
    ...described(options),
    ...lent.part(() => notices.toolsChanged()),
    listTools: (scope) =>
      use("tools/list", scope, ({ client }, speaker) => readTools(client, notices, speaker)),
    callTool(name, args, scope) {
      const what = `${id}.${name}`;
      if (!isRecord(args)) return Promise.resolve(unnamed(what));
      return use(what, scope, async ({ client }, { redact }) => {
        const answer = await askForResult(client, { name, args }, scope.signal);
        return readResult(what, answer, redact);
      });
    },
    onToolsChanged: (listener) => notices.onToolsChanged(listener),
    identity: () =>
      JSON.stringify(["stdio", command, args, cwd ?? "", Object.keys(env).toSorted()]),
    setAside: () => notices.setAside(),
    ownTitle: () => notices.ownTitle(),
    errorOutput: () => processes.errorOutput,
    close: () => processes.close(),
  };
}

async function readTools(
  client: Session["client"],
  notices: Notices,
  { scope }: Speaker,
): Promise<Outcome<readonly Tool[]>> {
  const list = await readToolList(async (cursor) =>
    ok(await askForPage(client, cursor, scope.signal)),
  );
  if (!list.ok) return list;
  notices.left(list.value.aside);
  notices.met(client.getServerVersion());
  return ok(list.value.tools);
}

function unnamed(what: string): Outcome<ToolResult> {
  return fail("invalid_args", `${what} takes its arguments by name.`);
}

/** Another credential is another environment, and so another process. */
async function withCredential(
  processes: Processes,
  lent: Lent,
  { id, credential }: StdioMcpOptions,
  scope: Scope,
): Promise<Outcome<Kept>> {
  const held = await lent.current(scope);
  if (!held.ok) return held;
  const { values, account } = held.value;
  const made = credential?.env(values) ?? {};
  if (Object.entries(made).flat().every(isText)) {
    return ok(processes.with(account, made, Object.values(values)));
  }
  return fail(
    "connector_call_failed",
    `The credential of ${id} makes a variable that is no text: the operator replaces it.`,
  );
}

function inherited(): Record<string, string> {
  const found = INHERITED.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

function checkStdio(options: StdioMcpOptions): {
  readonly maxBytes: number;
  readonly need: FieldsNeed | undefined;
} {
  const maxBytes = checkMcp("stdioMcp", options);
  const at = `stdioMcp(${options.id})`;
  const { command, args = [], env = {}, cwd, idleMs, startTimeoutMs } = options;
  if (typeof command !== "string" || command === "") {
    throw new TypeError(`${at}.command is missing: name the program to start.`);
  }
  if (!Array.isArray(args) || !args.every(isText)) {
    throw new TypeError(`${at}.args must be a list of texts.`);
  }
  if (!isRecord(env)) throw new TypeError(`${at}.env must be an object of texts.`);
  const wrong = Object.entries(env).find(([name, value]) => !isText(value) || !isText(name));
  if (wrong !== undefined) throw new TypeError(`${at}.env.${wrong[0]} is no text.`);
  if (cwd !== undefined && !isText(cwd)) throw new TypeError(`${at}.cwd is no path.`);
  if (idleMs !== undefined) checkCount(`${at}.idleMs`, idleMs, "milliseconds");
  if (startTimeoutMs !== undefined)
    checkCount(`${at}.startTimeoutMs`, startTimeoutMs, "milliseconds");
  const { credential } = options;
  if (credential !== undefined && typeof credential?.env !== "function") {
    throw new TypeError(`${at}.credential.env is missing: ({ token }) => ({ TOKEN: token }).`);
  }
  return { maxBytes, need: credential && readFields(`${at}.credential`, credential) };
}

/** The system takes no text with a zero character. */
function isText(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0");
}
