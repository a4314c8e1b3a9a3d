import type { Connector, JsonSchema, Tool, ToolResult } from "../../shared/contracts.ts";
import type { Held } from "../../shared/credentials.ts";
import { fail, ok, type Failed, type Failure, type Outcome } from "../../shared/failure.ts";
import { bareFetch, type OutboundFetch } from "../../shared/outbound.ts";
import { isRecord } from "../../shared/record.ts";
import { withDeadline, type Scope } from "../../shared/scope.ts";
import { Lent } from "../lent.ts";
import { askForPage, askForResult, hearToolChanges, type ToolCall } from "../mcp/client.ts";
import { readToolList } from "../mcp/catalog.ts";
import { failureOf, protocolCode, statusOf, type Refused, type Speaker } from "../mcp/failures.ts";
import { described, type McpOptions } from "../mcp/options.ts";
import { Notices } from "../mcp/notices.ts";
import { redactor } from "../mcp/redact.ts";
import { readResult } from "../mcp/result.ts";
import type { Authorization, AuthorizationOptions } from "./authorization.ts";
import { Exchange, type Endpoint, type Peer } from "./exchange.ts";
import { SessionLost } from "./guard.ts";
import { canBeSent, checkRemote, type Checked } from "./check.ts";
import { Sessions } from "./sessions.ts";

export type { HeaderCredential, OAuthClientOptions } from "./authorization.ts";

/** Gives the HTTP headers of one call, or why there are none, such as `auth_required`. */
export type HeaderSource = (scope: Scope) => Promise<Outcome<Readonly<Record<string, string>>>>;

/** Configuration of a {@link remoteMcp} connector. */
export interface RemoteMcpOptions extends McpOptions, AuthorizationOptions {
  /** Where the server speaks streamable HTTP. */
  readonly url: string | URL;
  /** Sent with every request; a function is asked for every call and may answer by who calls. */
  readonly headers?: Readonly<Record<string, string>> | HeaderSource;
  /** `legacy` for a server that must not be asked for the newer generation; `auto` when omitted. */
  readonly protocol?: "auto" | "legacy";
  /** Whether redirects within the origin are followed; `none` when omitted. */
  readonly redirects?: "same-origin" | "none";
}

const HEADER_MISMATCH = -32_020;
/** Answers by which a server that changed its generation gives itself away. */
const OTHER_ERA_CODES: ReadonlySet<number> = new Set([-32_022, -32_601]);
const OTHER_ERA_STATUSES: ReadonlySet<number> = new Set([400, 404, 405]);

/**
 * Makes a connector from an MCP server on the network.
 * @throws TypeError at once for an option that cannot be used; the message names it and the fix
 */
export function remoteMcp(options: RemoteMcpOptions): Connector {
  const remote = new Remote(options, checkRemote(options));
  return {
    ...described(options),
    ...remote.lent.part(() => remote.notices.toolsChanged()),
    listTools: (scope) => remote.listTools(scope),
    callTool: (name, args, scope) => remote.callTool(name, args, scope),
    onToolsChanged: (listener) => remote.notices.onToolsChanged(listener),
    identity: () => JSON.stringify(["http", String(options.url)]),
    setAside: () => remote.notices.setAside(),
    ownTitle: () => remote.notices.ownTitle(),
    useFetch: (fetch) => remote.useFetch(fetch),
    close: () => remote.close(),
  };
}

class Remote {
  readonly notices = new Notices();
  readonly lent: Lent;
  readonly #options: RemoteMcpOptions;
  readonly #url: URL;
  readonly #maxBytes: number;
  readonly #sessions: Sessions;
  readonly #authorization: Authorization | undefined;
  /** Schemas of tools that want arguments repeated as headers, from the last list. */
  #repeating = new Map<string, JsonSchema>();
  #fetch = bareFetch;
  #closed = false;

  constructor(options: RemoteMcpOptions, checked: Checked) {
    this.#options = options;
    this.#url = checked.url;
    this.#authorization = checked.authorization;
    this.#maxBytes = checked.maxBytes;
    this.#sessions = new Sessions(options.protocol === "legacy");
    this.lent = new Lent(options.id, checked.authorization?.need);
  }

  listTools(scope: Scope): Promise<Outcome<readonly Tool[]>> {
    return this.#exchange("tools/list", scope, (exchange, speaker) =>
      this.#read(exchange, speaker),
    );
  }

  async callTool(name: string, args: unknown, scope: Scope): Promise<Outcome<ToolResult>> {
    const what = `${this.#options.id}.${name}`;
    if (!isRecord(args)) return fail("invalid_args", `${what} takes its arguments by name.`);
    return this.#exchange(what, scope, async (exchange, speaker) => {
      const call = () => ({ name, args, inputSchema: this.#repeating.get(name) });
      const answer = await this.#ask(exchange, call, speaker);
      return readResult(what, answer, speaker.redact);
    });
  }

  useFetch(fetch: OutboundFetch): void {
    this.#fetch = fetch;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sessions.close();
  }

  /** Asks once; again only when the server refused, unread, a call whose headers it missed. */
  async #ask(exchange: Exchange, call: () => ToolCall, speaker: Speaker): Promise<unknown> {
    const { signal } = speaker.scope;
    try {
      return await askForResult(exchange.client, call(), signal);
    } catch (error) {
      if (protocolCode(error) !== HEADER_MISMATCH) throw error;
      await this.#read(exchange, speaker);
      return askForResult(exchange.client, call(), signal);
    }
  }

  async #read(exchange: Exchange, { scope }: Speaker): Promise<Outcome<readonly Tool[]>> {
    const list = await readToolList(async (cursor) =>
      ok(await askForPage(exchange.client, cursor, scope.signal)),
    );
    if (!list.ok) return list;
    const { tools, aside } = list.value;
    this.#repeating = new Map(
      tools.flatMap(({ name, inputSchema }) =>
        JSON.stringify(inputSchema).includes('"x-mcp-header"') ? [[name, inputSchema]] : [],
      ),
    );
    this.notices.left(aside);
    this.notices.met(exchange.client.getServerVersion());
    return ok(tools);
  }

  /** Runs one operation on a connection of its own; a session that the server lost is made anew once. */
  async #exchange<T>(
    what: string,
    caller: Scope,
    work: (exchange: Exchange, speaker: Speaker) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const { id, timeoutMs } = this.#options;
    if (this.#closed) return fail("unavailable", `${id} is closed.`);
    const run = async (scope: Scope): Promise<Outcome<T>> => {
      const held = await this.lent.current(scope);
      if (!held.ok) return held;
      const first = await this.#authenticated(what, held.value, scope, work);
      if (!("refusal" in first)) return first;
      const { status = 401, challenge: header } = first.refusal;
      const renewed = await this.lent.renew(held.value, { status, header }, scope);
      if (!renewed?.ok) return renewed ?? plain(first);
      return plain(await this.#authenticated(what, renewed.value, scope, work));
    };
    return timeoutMs === undefined ? run(caller) : withDeadline(caller, timeoutMs, what, run);
  }

  async #authenticated<T>(
    what: string,
    held: Held,
    scope: Scope,
    work: (exchange: Exchange, speaker: Speaker) => Promise<Outcome<T>>,
  ): Promise<Attempted<T>> {
    const headers = await this.#headers(held, scope);
    if (!headers.ok) return headers;
    const owner = held.account || this.#owner(scope);
    const endpoint = this.#endpoint(headers.value, Object.values(held.values), scope);
    const speaker = { what, redact: endpoint.redact, scope };
    const first = await this.#attempt(endpoint, owner, speaker, work);
    return first === "session lost" ? this.#lastAttempt(endpoint, owner, speaker, work) : first;
  }

  async #lastAttempt<T>(
    endpoint: Endpoint,
    owner: string,
    speaker: Speaker,
    work: (exchange: Exchange, speaker: Speaker) => Promise<Outcome<T>>,
  ): Promise<Attempted<T>> {
    const outcome = await this.#attempt(endpoint, owner, speaker, work, true);
    if (outcome !== "session lost") return outcome;
    return fail(
      "unavailable",
      `The server of ${endpoint.id} ends its sessions as soon as they begin.`,
    );
  }

  async #attempt<T>(
    endpoint: Endpoint,
    owner: string,
    speaker: Speaker,
    work: (exchange: Exchange, speaker: Speaker) => Promise<Outcome<T>>,
    isLast = false,
  ): Promise<Attempted<T> | "session lost"> {
    const { scope } = speaker;
    const peer = await this.#sessions.peer(owner, endpoint, scope);
    if (!peer.ok) return asRefused({ ok: false, failure: peer.failure }, peer.refusal);
    const exchange = await Exchange.make(endpoint, peer.value, 0);
    try {
      hearToolChanges(exchange.client, () => this.notices.toolsChanged());
      await exchange.connect(scope.signal);
      return await work(exchange, speaker);
    } catch (error) {
      const refusal = exchange.refusal(error);
      const isLost =
        refusal instanceof SessionLost || (!isLast && isUnknownSession(peer.value, error));
      if (isLost && !scope.signal.aborted) {
        this.#sessions.forget(owner, peer.value);
        return "session lost";
      }
      if (mayHaveChanged(peer.value, error)) this.#sessions.forgetEra(owner, peer.value);
      return asRefused(failureOf(refusal ?? error, speaker), refusal);
    } finally {
      exchange.end(scope);
    }
  }

  #endpoint(
    headers: Readonly<Record<string, string>>,
    secrets: readonly string[],
    scope: Scope,
  ): Endpoint {
    const { id, redirects = "none" } = this.#options;
    return {
      url: this.#url,
      headers,
      redact: redactor([...Object.values(headers), ...secrets]),
      id,
      maxBytes: this.#maxBytes,
      redirects,
      now: () => scope.now(),
      fetch: this.#fetch,
    };
  }

  async #headers(held: Held, scope: Scope): Promise<Outcome<Readonly<Record<string, string>>>> {
    const { id, headers = {} } = this.#options;
    const given = typeof headers === "function" ? await headers(scope) : ok(headers);
    if (!given.ok || this.#authorization === undefined) return given;
    const made = { ...given.value, ...this.#authorization.headers(held) };
    if (canBeSent(made)) return ok(made);
    return fail(
      "connector_call_failed",
      `The credential of ${id} makes a header that cannot be sent: the operator replaces it.`,
    );
  }

  /** Callers with credentials of their own must not meet in one session. */
  #owner(scope: Scope): string {
    return typeof this.#options.headers === "function" ? scope.principal : "";
  }
}

/** An outcome with the way in which a server refused the credential, when that is what happened. */
type Attempted<T> =
  | Outcome<T>
  | { readonly ok: false; readonly failure: Failure; readonly refusal: Refused };

function asRefused(failed: Failed, refusal: Refused | undefined): Attempted<never> {
  const isRefused =
    refusal?.status === 401 || (refusal?.status === 403 && isAboutScope(refusal.challenge));
  return isRefused ? { ...failed, refusal } : failed;
}

function plain<T>(attempted: Attempted<T>): Outcome<T> {
  return attempted.ok ? attempted : { ok: false, failure: attempted.failure };
}

/** Whether a server says that less was granted than it wants; else a 403 is about the person. */
function isAboutScope(challenge = ""): boolean {
  return /\berror="?insufficient_scope"?/i.test(challenge);
}

/**
 * Whether a server refused a session in its own way: many that run on the official SDK answer 400
 * for one that they do not know, and say so in words alone.
 */
function isUnknownSession(peer: Peer, error: unknown): boolean {
  if (peer.era !== "legacy" || !peer.sessionId || statusOf(error) !== 400) return false;
  const data = error instanceof Error && "data" in error ? error.data : undefined;
  return isRecord(data) && typeof data.text === "string" && /\bsession\b/i.test(data.text);
}

/** Whether a server may speak another generation than it did; one that keeps a session does not. */
function mayHaveChanged(peer: Peer, error: unknown): boolean {
  if (peer.era === "legacy" && peer.sessionId) return false;
  const [code, status] = [protocolCode(error), statusOf(error)];
  if (code !== undefined) return OTHER_ERA_CODES.has(code);
  return status !== undefined && OTHER_ERA_STATUSES.has(status);
}
