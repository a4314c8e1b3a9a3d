import { parseArgs } from "node:util";
import { LIMITS } from "../shared/limits.ts";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "../shared/log.ts";

export const USAGE = `Usage: connecta <command> [options]

  serve              serve the deployment
  dev                the same with the host page: run programs, look at their views
  tools [CONNECTOR]  list every tool with its class and why, those to look at first
  activity           print the calls that were recorded, the newest last
  tokens create NAME make a token for a caller and show it once
  tokens list        list the tokens that were made, never what they are
  tokens revoke ID   end a token at once
  credentials ...    what connectors need from a person:
    list [CONNECTOR]           what is there and what is missing
    set CONNECTOR [FIELD]      hand it over: asked for unseen, or read from a pipe
    test CONNECTOR             try it
    remove CONNECTOR [FIELD]   take it away
    rotate                     seal everything with the current vault key
    key                        print a new vault key

Options
  --config FILE      the deployment (connecta.config.mjs of this folder)
  --mcp-config FILE  servers of another client's file, besides or instead; may be repeated
  --port N           port to listen on, 0 for any free one (PORT, else 8787)
  --host NAME        address to listen on (127.0.0.1; any other needs auth)
  --metrics          answer /metrics for Prometheus, with auth if the deployment has it
  --log-level LEVEL  error, warn (the default), info or debug, on stderr
  --log-format FORM  text (the default) or json
  --follow           activity goes on printing until it is ended
  --connector ID     activity of one connector
  --outcome WHICH    activity that came out ok, or failed
  --limit N          calls that activity begins with (50)
  --expires TIME     when a new token ends: 12h, 30d, 8w (never, if it is not said)
  --json             tools or tokens as JSON; activity as a line of JSON for each call
  --help, --version

SANDBOX_PORT is the second port of dev, where views live (the next free one).`;

/** Where a deployment is written down. */
export interface Sources {
  readonly config: string | undefined;
  readonly mcpConfigs: readonly string[];
}

/** A server to run. */
export interface ServeCommand extends Sources {
  readonly name: "serve" | "dev";
  readonly port: number | undefined;
  readonly sandboxPort: number | undefined;
  readonly hostname: string | undefined;
  readonly metrics: boolean;
  readonly logLevel: LogLevel | undefined;
  readonly logFormat: LogFormat | undefined;
}

/** A list of tools to print. */
export interface ToolsCommand extends Sources {
  readonly name: "tools";
  /** The one connector to list; all of them when omitted. */
  readonly connector: string | undefined;
  readonly json: boolean;
}

/** Recorded calls to print. */
export interface ActivityCommand extends Sources {
  readonly name: "activity";
  readonly follow: boolean;
  readonly json: boolean;
  readonly connector: string | undefined;
  readonly outcome: "ok" | "failed" | undefined;
  /** How many to begin with. */
  readonly limit: number;
}

/** What to do with the tokens of callers. */
export type TokensCommand = Sources & { readonly name: "tokens"; readonly json: boolean } & (
    | {
        readonly action: "create";
        readonly token: string;
        /** Milliseconds until it ends. */
        readonly expiresInMs: number | undefined;
      }
    | { readonly action: "list" }
    | { readonly action: "revoke"; readonly token: string }
  );

/** What can be done about credentials, with how many words may follow. */
const CREDENTIALS = {
  list: [0, 1],
  set: [1, 2],
  test: [1, 1],
  remove: [1, 2],
  rotate: [0, 0],
  key: [0, 0],
} as const satisfies Record<string, readonly [number, number]>;

/** Credentials to look at or to hand over. */
export interface CredentialsCommand extends Sources {
  readonly name: "credentials";
  readonly action: keyof typeof CREDENTIALS;
  readonly connector: string | undefined;
  readonly field: string | undefined;
}

/** What somebody at the command line wants. */
export type Command =
  | ServeCommand
  | ToolsCommand
  | ActivityCommand
  | TokensCommand
  | CredentialsCommand
  | { readonly name: "help" | "version" };

/** A mistake of the person at the command line: one line, exit code 1. */
export class UsageError extends Error {}

const OUTCOMES = ["ok", "failed"] as const;
const DEFAULT_LIMIT = 50;

/** Options that some commands alone understand. */
const ONLY = {
  port: ["serve", "dev"],
  host: ["serve", "dev"],
  metrics: ["serve", "dev"],
  "log-level": ["serve", "dev"],
  "log-format": ["serve", "dev"],
  json: ["tools", "activity", "tokens"],
  follow: ["activity"],
  connector: ["activity"],
  outcome: ["activity"],
  limit: ["activity"],
  expires: ["tokens"],
} as const satisfies Record<string, readonly string[]>;

/** The commands, and how many words may follow each. */
const MOST = { serve: 0, dev: 0, tools: 1, activity: 0, tokens: 2, credentials: 3 } as const;

function isCommand(name: string | undefined): name is keyof typeof MOST {
  return name !== undefined && Object.hasOwn(MOST, name);
}

/**
 * Reads a command line.
 * @throws UsageError with one line for the person who wrote it
 */
export function readCommand(argv: readonly string[], env: NodeJS.ProcessEnv): Command {
  const { values, positionals } = parseCommandLine(argv);
  if (values.help === true) return { name: "help" };
  if (values.version === true) return { name: "version" };
  const [name, ...rest] = positionals;
  if (!isCommand(name) || rest.length > MOST[name]) {
    throw new UsageError(
      "Say one command: connecta serve, or connecta dev, or connecta tools (--help lists all).",
    );
  }
  for (const [option, commands] of Object.entries(ONLY)) {
    if (values[option as keyof typeof ONLY] === undefined || commands.some((one) => one === name)) {
      continue;
    }
    throw new UsageError(`connecta ${name} takes no --${option} (--help lists the options).`);
  }
  const sources = { config: values.config, mcpConfigs: values["mcp-config"] ?? [] };
  if (name === "tokens") return readTokens(rest, values, sources);
  if (name === "credentials") return { name, ...readCredentials(rest), ...sources };
  if (name === "tools") return { name, connector: rest[0], json: values.json ?? false, ...sources };
  if (name === "activity") return { name, ...readActivity(values), ...sources };
  return {
    name,
    ...sources,
    port: readPort(values.port === undefined ? "PORT" : "--port", values.port ?? env.PORT),
    sandboxPort: readPort("SANDBOX_PORT", env.SANDBOX_PORT),
    hostname: values.host,
    metrics: values.metrics ?? false,
    logLevel: readWord("--log-level", LOG_LEVELS, values["log-level"]),
    logFormat: readWord("--log-format", LOG_FORMATS, values["log-format"]),
  };
}

function readActivity(values: ReturnType<typeof parseCommandLine>["values"]) {
  const { follow = false, json = false, connector, limit } = values;
  const outcome = OUTCOMES.find((one) => one === values.outcome);
  if (outcome !== values.outcome) {
    throw new UsageError("--outcome must be ok or failed.");
  }
  const most = LIMITS.activityPage.value;
  const count = Number(limit ?? DEFAULT_LIMIT);
  if (!Number.isInteger(count) || count < 1 || count > most) {
    throw new UsageError(`--limit must be a whole number between 1 and ${most}.`);
  }
  return { follow, json, connector, outcome, limit: count };
}

function readCredentials([action = "", connector, field]: readonly string[]) {
  if (!isAction(action)) {
    const actions = Object.keys(CREDENTIALS).join(", ");
    throw new UsageError(`connecta credentials can: ${actions} (--help lists the options).`);
  }
  const [least, most] = CREDENTIALS[action];
  const words = [connector, field].filter((word) => word !== undefined).length;
  if (words < least) throw new UsageError(`connecta credentials ${action} needs a connector.`);
  if (words > most) throw new UsageError(`connecta credentials ${action} takes fewer words.`);
  return { action, connector, field };
}

function isAction(word: string): word is keyof typeof CREDENTIALS {
  return Object.hasOwn(CREDENTIALS, word);
}

function parseCommandLine(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        config: { type: "string" },
        "mcp-config": { type: "string", multiple: true },
        port: { type: "string" },
        host: { type: "string" },
        metrics: { type: "boolean" },
        "log-level": { type: "string" },
        "log-format": { type: "string" },
        json: { type: "boolean" },
        follow: { type: "boolean" },
        connector: { type: "string" },
        outcome: { type: "string" },
        limit: { type: "string" },
        expires: { type: "string" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean" },
      },
    });
  } catch (error) {
    const [sentence] = (error as Error).message.split(". ");
    throw new UsageError(`${sentence} (--help lists the options).`);
  }
}

function readWord<Word extends string>(
  option: string,
  words: readonly Word[],
  text: string | undefined,
): Word | undefined {
  if (text === undefined) return undefined;
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw new UsageError(`${option} must be one of ${words.join(", ")}.`);
}

function readTokens(
  [action, token]: readonly string[],
  { json = false, expires }: { readonly json?: boolean; readonly expires?: string },
  sources: Sources,
): TokensCommand {
  const of = { name: "tokens", json, ...sources } as const;
  if (expires !== undefined && action !== "create") {
    throw new UsageError("--expires is for connecta tokens create.");
  }
  if (action === "list" && token === undefined) return { ...of, action };
  if (action === "create" && token !== undefined) {
    return { ...of, action, token, expiresInMs: readTime("--expires", expires) };
  }
  if (action === "revoke" && token !== undefined && !json) return { ...of, action, token };
  throw new UsageError(
    "Say connecta tokens create NAME, connecta tokens list, or connecta tokens revoke ID.",
  );
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** A span such as `30d`, in milliseconds. */
function readTime(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = /^([1-9]\d{0,4})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) {
    return Number(count) * UNITS[unit as keyof typeof UNITS];
  }
  throw new UsageError(`${option} must be a time such as 12h, 30d or 8w.`);
}

function readPort(option: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`${option} must be a port number between 0 and 65535.`);
}
