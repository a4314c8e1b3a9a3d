import { callLimitsProblem, type CallLimits } from "../../shared/call-limits.ts";
import type { ToolPolicy } from "../../shared/contracts.ts";
import { policyProblem } from "../../shared/policy.ts";
import { isRecord } from "../../shared/record.ts";
import { clampUtf8 } from "../../shared/text.ts";
import { Expansion, type Variables } from "./expand.ts";
import type { Unread } from "./shapes.ts";

/** What every imported server may say for connecta alone. */
interface Own extends ToolPolicy {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  readonly usageGuide?: string;
  readonly timeoutMs?: number;
  readonly limits?: CallLimits;
}

/** A server on the network, as `remoteMcp` takes it. */
export interface RemoteServer extends Own {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocol?: "auto" | "legacy";
  readonly auth?: "oauth";
}

/** A server that is started, as `stdioMcp` takes it. */
export interface ProcessServer extends Own {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly idleMs?: number;
  readonly startTimeoutMs?: number;
}

/** What a definition comes to; the reasons and remarks complete a sentence about the server. */
export type Definition =
  | { readonly use: "remote"; readonly options: Omit<RemoteServer, "id"> }
  | { readonly use: "process"; readonly options: Omit<ProcessServer, "id"> }
  | { readonly use: "none"; readonly reason: string; readonly wanted: boolean };

/** What reads a file of variables; `undefined` where there are no files. */
export type ReadEnvFile = (path: string) => Readonly<Record<string, string>> | string;

/** Headers that people copy into their files and that a client must set itself. */
const OF_THE_PROTOCOL = /^(?:accept|host|connection|transfer-encoding|content-.*|mcp-.*)$/i;

/** What of a definition is read, by what becomes of it. */
const TEXTS = ["title", "description", "usageGuide"];
const OWN = [...TEXTS, "timeoutMs", "limits", "readOnly", "approval", "hide"];
const REMOTE = ["url", "serverUrl", "httpUrl", "headers", "protocol"];
const TIMES = ["idleMs", "startTimeoutMs"];
const PROCESS = ["command", "args", "env", "envFile", "cwd", ...TIMES];
const BOTH = ["type", "transport", "disabled", "enabled", "disabledTools", "excludeTools"];
/** Lists of what another client may call unasked; here tools are classified, not trusted. */
const TRUST = ["alwaysAllow", "autoApprove", "trust"];
/** Clients that show a chosen part of a server's tools. */
const CHOICE = ["includeTools", "enabledTools", "allowedTools"];

/**
 * Reads one server's definition.
 * @param remark is told what of it has no effect, as the end of a sentence about the server
 */
export function readDefinition(
  definition: unknown,
  variables: Variables,
  readEnvFile: ReadEnvFile | undefined,
  remark: (text: string) => void,
): Definition & { readonly expansion: Expansion } {
  const expansion = new Expansion(variables);
  const read = isRecord(definition)
    ? readFields(definition, expansion, readEnvFile, remark)
    : none("is no object");
  if (read.use === "none" || expansion.missing.length === 0) return { ...read, expansion };
  return { ...none(`needs ${expansion.missing.join(" and ")}`), expansion };
}

function readFields(
  fields: Unread,
  expansion: Expansion,
  readEnvFile: ReadEnvFile | undefined,
  remark: (text: string) => void,
): Definition {
  if (fields.disabled === true || fields.enabled === false) return none("is disabled", false);
  const transport = transportOf(fields);
  if (typeof transport !== "string") return none(transport.reason);
  remarks(fields, transport, remark);
  const own = { ...pick(fields, OWN), ...hidden(fields) } as Omit<Own, "id">;
  // Checked before they are joined with what a deployment says: here they may be anything.
  const problem = policyProblem(own);
  if (problem !== undefined) return none(`cannot be classified: ${problem}`);
  const limitsProblem = callLimitsProblem(own.limits);
  if (limitsProblem !== undefined) return none(`cannot be bounded: ${limitsProblem}`);
  if (transport === "remote") return readRemote(fields, own, expansion, remark);
  return readProcess(fields, own, expansion, readEnvFile);
}

function readRemote(
  fields: Unread,
  own: Omit<Own, "id">,
  expansion: Expansion,
  remark: (text: string) => void,
): Definition {
  const url = expansion.text(String(addressOf(fields)));
  const given = texts(fields.headers, expansion);
  if (given === undefined) return none("has headers that are no texts by name");
  const headers = Object.fromEntries(
    Object.entries(given).filter(([name]) => !OF_THE_PROTOCOL.test(name)),
  );
  for (const name of Object.keys(given)) {
    if (OF_THE_PROTOCOL.test(name)) remark(`has the header ${name}, which the protocol sets`);
  }
  if (expansion.missing.length === 0 && !isHttp(url))
    return none("has a url that is no http address");
  const protocol = pick(fields, ["protocol"]) as Pick<RemoteServer, "protocol">;
  const auth = fields.auth === "oauth" ? { auth: "oauth" as const } : {};
  return { use: "remote", options: { ...own, ...protocol, ...auth, url, headers } };
}

function readProcess(
  fields: Unread,
  own: Omit<Own, "id">,
  expansion: Expansion,
  readEnvFile: ReadEnvFile | undefined,
): Definition {
  const { program, args: given, env: inner } = commandOf(fields);
  const list = given ?? [];
  if (!Array.isArray(list) || !list.every(isScalar))
    return none("has args that are no list of texts");
  const older = texts(inner, expansion);
  const env = texts(fields.env, expansion);
  if (older === undefined || env === undefined) return none("has an env that is no texts by name");
  const file = readFile(fields.envFile, expansion, readEnvFile);
  if (typeof file === "string") return none(file);
  const cwd = typeof fields.cwd === "string" ? { cwd: expansion.text(fields.cwd) } : {};
  const args = list.map((argument) => expansion.text(String(argument)));
  const command = expansion.text(program);
  const times = pick(fields, TIMES) as Pick<ProcessServer, "idleMs" | "startTimeoutMs">;
  return {
    use: "process",
    options: { ...own, ...times, command, args, env: { ...file, ...older, ...env }, ...cwd },
  };
}

function readFile(
  envFile: unknown,
  expansion: Expansion,
  readEnvFile: ReadEnvFile | undefined,
): Readonly<Record<string, string>> | string {
  if (envFile === undefined || envFile === null) return {};
  if (typeof envFile !== "string") return "has an envFile that is no path";
  if (readEnvFile === undefined) return "has an envFile, which cannot be read here";
  const path = expansion.text(envFile);
  return expansion.missing.length > 0 ? {} : readEnvFile(path);
}

/** How a server is reached, or the end of a sentence about why it is not. */
function transportOf(fields: Unread): "remote" | "process" | { readonly reason: string } {
  const written = fields.type ?? fields.transport;
  const type =
    typeof written === "string" ? written.toLowerCase().replace(/[-_ ]/g, "") : undefined;
  const hasCommand = commandOf(fields).program !== "";
  const hasUrl = addressOf(fields) !== undefined;
  if (type === "stdio" || type === "local") {
    return hasCommand ? "process" : { reason: "has type stdio and no command" };
  }
  if (type === "http" || type === "streamablehttp" || type === "sse" || type === "remote") {
    return hasUrl ? "remote" : { reason: `has type ${String(written)} and no url` };
  }
  if (type !== undefined) return { reason: `has a type that is not spoken here (${shown(type)})` };
  if (hasCommand && hasUrl) return { reason: "has a command and a url: say which with type" };
  if (hasCommand) return "process";
  return hasUrl ? "remote" : { reason: "has neither a command nor a url" };
}

function addressOf({ url, serverUrl, httpUrl }: Unread): string | undefined {
  return [url, serverUrl, httpUrl].find((value) => typeof value === "string" && value !== "") as
    | string
    | undefined;
}

/** A command with its arguments beside it, or all in one object or list. */
function commandOf({ command, args }: Unread): {
  readonly program: string;
  readonly args: unknown;
  readonly env?: unknown;
} {
  if (typeof command === "string") return { program: command, args };
  if (Array.isArray(command)) {
    const [program, ...rest] = command as unknown[];
    return {
      program: typeof program === "string" ? program : "",
      args: [...rest, ...asList(args)],
    };
  }
  if (!isRecord(command) || typeof command.path !== "string") return { program: "", args };
  return { program: command.path, args: command.args ?? args, env: command.env };
}

function remarks(
  fields: Unread,
  transport: "remote" | "process",
  remark: (text: string) => void,
): void {
  const type = String(fields.type ?? fields.transport ?? "").toLowerCase();
  if (transport === "remote" && type === "sse") {
    remark("has type sse, which is no longer spoken: its url is tried as streamable HTTP");
  }
  const [used, unused] = transport === "remote" ? [REMOTE, PROCESS] : [PROCESS, REMOTE];
  for (const [name, value] of Object.entries(fields)) {
    const isOff = value === false || (Array.isArray(value) && value.length === 0);
    if (TRUST.includes(name)) {
      if (isOff) continue;
      remark(
        `has ${name}, which is not followed: what its tools say decides, and readOnly for those ` +
          "that say nothing",
      );
    } else if (CHOICE.includes(name)) {
      remark(`has ${name}, which is not followed: all its tools are there, but those in hide`);
    } else if (unused.includes(name)) {
      remark(
        `has ${name}, which means nothing beside ${transport === "remote" ? "a url" : "a command"}`,
      );
    } else if (!used.includes(name) && !OWN.includes(name) && !BOTH.includes(name)) {
      if (name === "source" && value === "custom") continue;
      if (name === "auth" && value === "oauth" && transport === "remote") continue;
      remark(`has ${shown(name)}, which is not known here`);
    }
  }
}

/** Tools that another client was told not to offer are not offered here either. */
function hidden({ hide, disabledTools, excludeTools }: Unread): Pick<Own, "hide"> {
  const names = [hide, disabledTools, excludeTools].flatMap(asList);
  return names.length > 0 ? { hide: names as readonly string[] } : {};
}

function pick(fields: Unread, names: readonly string[]): Unread {
  const present = names.filter((name) => fields[name] !== undefined && fields[name] !== null);
  return Object.fromEntries(present.map((name) => [name, fields[name]]));
}

/** Texts by name, expanded; a null leaves its name out. */
function texts(given: unknown, expansion: Expansion): Readonly<Record<string, string>> | undefined {
  if (given === undefined || given === null) return {};
  if (!isRecord(given)) return undefined;
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  if (!entries.every(([, value]) => isScalar(value))) return undefined;
  return Object.fromEntries(entries.map(([name, value]) => [name, expansion.text(String(value))]));
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function none(reason: string, wanted = true): Definition {
  return { use: "none", reason, wanted };
}

function shown(name: string): string {
  return JSON.stringify(clampUtf8(name, 128));
}
