import type { Connector, ToolPolicy } from "../../shared/contracts.ts";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { LIMITS } from "../../shared/limits.ts";
import { POLICY_LISTS, policyProblem } from "../../shared/policy.ts";
import { clampUtf8 } from "../../shared/text.ts";
import {
  readDefinition,
  type Definition,
  type ProcessServer,
  type ReadEnvFile,
  type RemoteServer,
} from "./definition.ts";
import { inputVariable, type Expansion, type Variables } from "./expand.ts";
import { Ids } from "./ids.ts";
import { findServers, type McpFile } from "./shapes.ts";
import { readTolerantJson } from "./tolerant-json.ts";

/** What makes connectors of servers. */
export interface Makers {
  remoteMcp(server: RemoteServer): Connector;
  /** Absent where no process can be started. */
  stdioMcp?(server: ProcessServer): Connector;
}

/** What a file's references stand for, and what a deployment adds to its servers. */
export interface ImportOptions {
  /** The environment, for `${NAME}` and `${env:NAME}`; empty when omitted. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Answers to `${input:id}`, by id; else `CONNECTA_INPUT_<ID>` of `env` answers. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** What `${workspaceFolder}` stands for. */
  readonly workspaceFolder?: string;
  /** What `${userHome}` stands for. */
  readonly userHome?: string;
  /** Classification of tools by the name that the file gives their server. */
  readonly policy?: Readonly<Record<string, ToolPolicy>>;
  /** Ids of connectors that there are besides. */
  readonly taken?: readonly string[];
}

/** Something about a file that its owner should know. */
export interface ImportWarning {
  /** The server's name in the file. */
  readonly server: string;
  /** A sentence that names the server, and no value of a variable. */
  readonly message: string;
  /** Whether the server was wanted and is not there. */
  readonly refused: boolean;
}

/** What became of a file. */
export interface Imported {
  readonly connectors: readonly Connector[];
  readonly warnings: readonly ImportWarning[];
}

/**
 * The same as {@link importMcpServers}, for a config that is code.
 * @throws TypeError in one sentence when the file is none
 */
export function connectorsOf(
  file: unknown,
  makers: Makers & { readonly readEnvFile?: ReadEnvFile },
  options: ImportOptions,
): Imported {
  const imported = importMcpServers(file, makers, options);
  if (imported.ok) return imported.value;
  throw new TypeError(`fromMcpServers() cannot use what it was given. ${imported.failure.message}`);
}

/**
 * Makes connectors of the servers that a client's file lists: `mcpServers`, `servers` or
 * `context_servers`, as text with comments or as an object.
 * @param makers what makes them; a server that cannot be made is refused with a warning
 * @returns `invalid_args` in one sentence when the file is none
 */
export function importMcpServers(
  file: unknown,
  makers: Makers & { readonly readEnvFile?: ReadEnvFile },
  options: ImportOptions = {},
): Outcome<Imported> {
  const parsed = typeof file === "string" ? readTolerantJson(file) : ok(file);
  if (!parsed.ok) return parsed;
  const found = findServers(parsed.value);
  if (found === undefined) {
    return fail("invalid_args", "It lists no servers: mcpServers, servers or context_servers.");
  }
  const warnings: ImportWarning[] = [];
  const variables = variablesOf(found, options);
  const ids = new Ids(options.taken ?? []);
  const connectors: Connector[] = [];
  for (const [server, definition] of found.servers) {
    const warn = (text: string, refused = false) =>
      void warnings.push({ server, message: `${quote(server)} ${text}.`, refused });
    const read = readDefinition(definition, variables, makers.readEnvFile, warn);
    const made = make(server, read, read.expansion, makers, ids, options.policy?.[server]);
    if ("connector" in made) {
      connectors.push(made.connector);
      if (made.connector.id !== server) warn(`is called ${made.connector.id} here`);
    } else warn(made.reason, made.wanted);
  }
  for (const name of Object.keys(options.policy ?? {})) {
    if (found.servers.has(name)) continue;
    const message = `policy names ${quote(name)}, which is no server of the file.`;
    warnings.push({ server: name, message, refused: false });
  }
  return ok({ connectors, warnings });
}

type Made =
  | { readonly connector: Connector }
  | { readonly reason: string; readonly wanted: boolean };

function make(
  server: string,
  definition: Definition,
  expansion: Expansion,
  { remoteMcp, stdioMcp }: Makers,
  ids: Ids,
  policy: ToolPolicy | undefined,
): Made {
  if (definition.use === "none") {
    const { reason, wanted } = definition;
    return { reason: `is left out: it ${reason}`, wanted };
  }
  if (definition.use === "process" && stdioMcp === undefined) {
    return { reason: "is left out: it has a command, and none can be started here", wanted: true };
  }
  const id = ids.give(server);
  const named = { id, ...(id === server ? {} : { title: server }) };
  const classes = joined(definition.options, policy);
  const problem = policyProblem(classes);
  if (problem !== undefined) return { reason: `is left out: ${problem}`, wanted: true };
  try {
    const connector =
      definition.use === "remote"
        ? remoteMcp({ ...named, ...definition.options, ...classes })
        : stdioMcp!({ ...named, ...definition.options, ...classes });
    return { connector };
  } catch (error) {
    const why = expansion.withoutValues(error instanceof Error ? error.message : "");
    return { reason: `is left out: ${why.replace(/\.$/, "")}`, wanted: true };
  }
}

function variablesOf(file: McpFile, options: ImportOptions): Variables {
  const { env = {}, inputs: answers = {}, workspaceFolder, userHome } = options;
  const separator = workspaceFolder?.includes("\\") === true ? "\\" : "/";
  const places = new Map([
    ["/", separator],
    ["pathSeparator", separator],
  ]);
  if (userHome !== undefined) places.set("userHome", userHome);
  if (workspaceFolder !== undefined) {
    places.set("workspaceFolder", workspaceFolder);
    places.set("cwd", workspaceFolder);
    places.set("workspaceFolderBasename", workspaceFolder.split(/[/\\]/).findLast(Boolean) ?? "");
  }
  const inputs = (id: string) =>
    own(answers, id) ?? own(env, inputVariable(id)) ?? file.inputs.get(id);
  return { env, inputs, places };
}

function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The file's lists and the deployment's: neither takes anything out of the other. */
function joined(file: ToolPolicy, deployment: ToolPolicy = {}): ToolPolicy {
  const lists = POLICY_LISTS.map((list) => {
    return [list, [...(file[list] ?? []), ...(deployment[list] ?? [])]] as const;
  });
  return Object.fromEntries(lists.filter(([, names]) => names.length > 0));
}

function quote(name: string): string {
  return JSON.stringify(clampUtf8(name, LIMITS.nameBytes.value));
}
