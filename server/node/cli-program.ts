import { styleText } from "node:util";
import { Command, type CommanderError } from "commander";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "../shared/log.ts";
import { VERSION } from "../version.ts";
import { DEV_SERVER, UsageError, type CredentialsCommand, type Sources } from "./cli-command.ts";
import { countTo, MOST_EVENTS, readPort, readTime, wordOf } from "./cli-values.ts";

/** How many results a person may ask for. */
const MOST_RESULTS = 1_000;

/** Options that name a deployment, as they are read. */
interface SourceOptions {
  readonly config?: string;
  readonly mcpConfig?: readonly string[];
}

/** Options of a command that answers programs as well. */
interface JsonOptions extends SourceOptions {
  readonly json?: boolean;
}

/** What commands find around them. */
export interface Surroundings {
  /** Variables that stand in for options. */
  readonly env: NodeJS.ProcessEnv;
  /** Folder of the built host page. */
  readonly hostPage: string;
}

/**
 * Every command with its help. What a command does is loaded when it is carried out.
 */
export function program({ env, hostPage }: Surroundings): Command {
  const root = new Command("connecta");
  root
    .description("One MCP endpoint in front of every integration you chose.")
    .version(VERSION, "--version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .configureHelp({ styleTitle: (text) => styleText("bold", text) })
    // A mistake is told in one line by whoever catches it.
    .configureOutput({ outputError: () => undefined, writeErr: () => undefined })
    .exitOverride((error) => refuse(error, root));
  const init = root.command("init");
  init
    .description("write a deployment into an empty folder")
    .argument("[folder]", "where", ".")
    .action(async (folder: string) => {
      await (await import("./cli-init.ts")).init(folder);
    })
    .exitOverride((error) => refuse(error, init));
  addServers(root, env, hostPage);
  addStdio(root);
  addWork(root);
  addLooks(root);
  addTokens(root);
  addCredentials(root);
  return root;
}

function addServers(root: Command, env: NodeJS.ProcessEnv, hostPage: string): void {
  for (const [name, what] of [
    ["serve", "serve the deployment"],
    ["dev", "the same with the host page, started again when the config changes"],
  ] as const) {
    const after = name === "dev" ? "SANDBOX_PORT" : undefined;
    const served = deployed(root, name, what)
      .option("--port <n>", "port to listen on, 0 for any free one (PORT, else 8787)")
      .option("--host <name>", "address to listen on (127.0.0.1; any other needs auth)")
      .option("--metrics", "answer /metrics for Prometheus, with auth if the deployment has it")
      .option(
        "--log-level <level>",
        "error, warn (the default), info or debug, on stderr",
        wordOf("--log-level", LOG_LEVELS),
      )
      .option(
        "--log-format <form>",
        "text (the default) or json",
        wordOf("--log-format", LOG_FORMATS),
      )
      .action(async (options: ServeOptions) => {
        const { port, host, metrics = false, logLevel, logFormat } = options;
        if (name === "dev" && env[DEV_SERVER] === undefined) {
          const { dev } = await import("./cli-dev.ts");
          return dev(sources(options));
        }
        const { serve } = await import("./cli-serve.ts");
        await serve({
          name,
          hostPage,
          ...sources(options),
          port: readPort(port === undefined ? "PORT" : "--port", port ?? env.PORT),
          sandboxPort: readPort("SANDBOX_PORT", env.SANDBOX_PORT),
          hostname: host,
          metrics,
          logLevel,
          logFormat,
        });
      });
    if (after) {
      served.addHelpText(
        "after",
        `\n${after} is the second port, where views live (the next free one).`,
      );
    }
  }
}

function addStdio(root: Command): void {
  deployed(
    root,
    "stdio",
    "serve it over stdin and stdout, to a host that launches a command",
  ).action(async (options: SourceOptions) => {
    const { stdio } = await import("./cli-stdio.ts");
    await stdio(sources(options));
  });
}

interface ServeOptions extends SourceOptions {
  readonly port?: string;
  readonly host?: string;
  readonly metrics?: boolean;
  readonly logLevel?: LogLevel;
  readonly logFormat?: LogFormat;
}

function addWork(root: Command): void {
  deployed(root, "run", "run a program and print its envelope; 1 when it failed")
    .argument("<file>", "a program, or - for stdin")
    .option("--view <file>", "save the view that it makes, as one HTML page")
    .option("--diagnostics", "with timings and what was called")
    .action(async (file: string, options: RunOptions) => {
      const { view, diagnostics = false } = options;
      const { run } = await import("./cli-run.ts");
      await run({ ...sources(options), file, view, diagnostics });
    });
  deployed(root, "call", "call one tool that only reads, and print what it answers")
    .argument("<address>", "connector.tool")
    .argument("[arguments]", "a JSON object, @file, or - for stdin")
    .option("--write", "let it be one that changes something")
    .option("--json", "texts and failures as JSON as well")
    .action(async (address: string, args: string | undefined, options: CallOptions) => {
      const { write = false, json = false } = options;
      const { call } = await import("./cli-call.ts");
      await call({ ...sources(options), address, args, write, json });
    });
}

interface RunOptions extends SourceOptions {
  readonly view?: string;
  readonly diagnostics?: boolean;
}

interface CallOptions extends JsonOptions {
  readonly write?: boolean;
}

function addLooks(root: Command): void {
  deployed(root, "tools", "list every tool with its class and why, those to look at first")
    .argument("[connector]", "the one connector to list")
    .option("--json", "as JSON")
    .action(async (connector: string | undefined, options: JsonOptions) => {
      const { tools } = await import("./cli-tools.ts");
      await tools({ ...sources(options), connector, json: options.json ?? false });
    });
  deployed(root, "doctor", "look for what is wrong, and say what mends it; 0 when all is well")
    .argument("[connector]", "the one connector to look at")
    .option("--json", "as JSON")
    .action(async (connector: string | undefined, options: JsonOptions) => {
      const { doctor } = await import("./cli-doctor.ts");
      await doctor({ ...sources(options), connector, json: options.json ?? false });
    });
  deployed(root, "search", "find tools as a model does; 1 when a connector was left out")
    .argument("<query>", "what is wanted, in words")
    .option("--explain", "say why each result stands where it does")
    .option("--connector <id>", "tools of one connector")
    .option("--limit <n>", "how many results", countTo("--limit", MOST_RESULTS), 8)
    .option("--json", "as JSON")
    .action(async (query: string, options: SearchOptions) => {
      const { explain = false, connector, limit, json = false } = options;
      const { search } = await import("./cli-search.ts");
      await search({ ...sources(options), query, explain, connector, limit, json });
    });
  deployed(root, "activity", "print the calls that were recorded, the newest last")
    .option("--follow", "go on printing until it is ended")
    .option("--connector <id>", "calls of one connector")
    .option(
      "--outcome <which>",
      "calls that came out ok, or failed",
      wordOf("--outcome", ["ok", "failed"], "ok or failed"),
    )
    .option("--limit <n>", "calls to begin with", countTo("--limit", MOST_EVENTS), 50)
    .option("--json", "a line of JSON for each call")
    .action(async (options: ActivityOptions) => {
      const { follow = false, json = false, connector, outcome, limit } = options;
      const { activity } = await import("./cli-activity.ts");
      await activity({ ...sources(options), follow, json, connector, outcome, limit });
    });
}

interface SearchOptions extends JsonOptions {
  readonly explain?: boolean;
  readonly connector?: string;
  readonly limit: number;
}

interface ActivityOptions extends JsonOptions {
  readonly follow?: boolean;
  readonly connector?: string;
  readonly outcome?: "ok" | "failed";
  readonly limit: number;
}

function addTokens(root: Command): void {
  const group = grouped(root, "tokens", "make, list and end tokens of callers");
  deployed(group, "create", "make a token for a caller and show it once")
    .argument("<name>", "who it is for")
    .option("--expires <time>", "when it ends: 12h, 30d, 8w (never, if it is not said)", readTime)
    .option("--json", "as JSON")
    .action(async (token: string, options: CreateOptions) => {
      const { expires, json = false } = options;
      const { tokens } = await import("./cli-tokens.ts");
      await tokens({ ...sources(options), action: "create", token, expiresInMs: expires, json });
    });
  deployed(group, "list", "list the tokens that were made, never what they are")
    .option("--json", "as JSON")
    .action(async (options: JsonOptions) => {
      const { tokens } = await import("./cli-tokens.ts");
      await tokens({ ...sources(options), action: "list", json: options.json ?? false });
    });
  deployed(group, "revoke", "end a token at once")
    .argument("<id>", "as the list shows it")
    .action(async (token: string, options: SourceOptions) => {
      const { tokens } = await import("./cli-tokens.ts");
      await tokens({ ...sources(options), action: "revoke", token, json: false });
    });
}

interface CreateOptions extends JsonOptions {
  readonly expires?: number;
}

function addCredentials(root: Command): void {
  const group = grouped(root, "credentials", "what connectors need from a person");
  const add = (action: CredentialsCommand["action"], what: string, ...words: string[]) => {
    const command = deployed(group, action, what);
    for (const word of words) command.argument(word);
    command.action(async (...given: unknown[]) => {
      const [connector, field] = given.filter((one) => typeof one === "string");
      const { credentials } = await import("./cli-credentials.ts");
      await credentials({ ...sources(command.opts()), action, connector, field });
    });
  };
  add("list", "what is there and what is missing", "[connector]");
  add("set", "hand it over: asked for unseen, or read from a pipe", "<connector>", "[field]");
  add("test", "try it", "<connector>");
  add("remove", "take it away", "<connector>", "[field]");
  add("rotate", "seal everything with the current vault key");
  add("key", "print a new vault key");
}

/** A command of others, which does nothing by itself. */
function grouped(parent: Command, name: string, what: string): Command {
  const group = parent.command(name).description(what).helpCommand(false);
  // Otherwise an option that its commands have would be told of instead of what is missing.
  group.allowUnknownOption();
  return group.exitOverride((error) => refuse(error, group));
}

/** A command that works on a deployment. */
function deployed(parent: Command, name: string, what: string): Command {
  const command = parent.command(name).description(what);
  return command
    .option("--config <file>", "the deployment (connecta.config.mjs of this folder)")
    .option(
      "--mcp-config <file>",
      "servers of another client's file, besides or instead; may be repeated",
      (file: string, others: readonly string[] = []) => [...others, file],
    )
    .exitOverride((error) => refuse(error, command));
}

function sources({ config, mcpConfig = [] }: SourceOptions): Sources {
  return { config, mcpConfigs: mcpConfig };
}

/**
 * Says what was wrong in one line.
 * @throws UsageError, and what commander throws after it printed a help or a version
 */
function refuse(error: CommanderError, command: Command): never {
  if (error.exitCode === 0) throw error;
  const path = [command.parent?.parent?.name(), command.parent?.name(), command.name()]
    .filter(Boolean)
    .join(" ");
  const [, flag] = /'([^']*)'/.exec(error.message) ?? [];
  const [, meant] = /\(Did you mean (.+)\?\)/.exec(error.message) ?? [];
  const did = meant === undefined ? "" : ` Did you mean ${meant}?`;
  if (error.code === "commander.unknownOption") {
    throw new UsageError(`${path} takes no ${flag} (${path} --help lists its options).${did}`);
  }
  const isMissing = error.code === "commander.help" || error.code === "commander.unknownCommand";
  if (error.code === "commander.unknownCommand" && command.parent === null) {
    throw new UsageError(`${path} has no command ${flag} (${path} --help lists all).${did}`);
  }
  if (isMissing && command.parent === null) {
    throw new UsageError(
      "Say one command: connecta serve, or connecta dev, or connecta tools (--help lists all).",
    );
  }
  if (isMissing) {
    const names = command.commands.map((one) => one.name()).join(", ");
    throw new UsageError(`${path} can: ${names} (${path} --help says more).${did}`);
  }
  const said = error.message.replace(/^error: /, "").replaceAll(/\s+/g, " ");
  throw new UsageError(`${path}: ${said} (${path} --help says more).`);
}
