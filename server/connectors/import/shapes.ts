import { isRecord } from "../../shared/record.ts";

/** A JSON object whose members nobody has looked at yet. */
export type Unread = Readonly<Record<string, unknown>>;

/** What a file of some client says about servers. */
export interface McpFile {
  /** Definitions by the name that the file gives them, in its order. */
  readonly servers: ReadonlyMap<string, unknown>;
  /** What the file asks a person for: ids, with the default that some have. */
  readonly inputs: ReadonlyMap<string, string | undefined>;
}

/** Members under which clients keep their servers; in the settings of VS Code, below `mcp`. */
const MEMBERS = ["mcpServers", "servers", "context_servers"];

/**
 * Finds the servers in what a client's file holds.
 * @param file the file's JSON, whole
 */
export function findServers(file: unknown): McpFile | undefined {
  if (!isRecord(file)) return undefined;
  const parts = [file, ...(isRecord(file.mcp) ? [file.mcp] : [])];
  const maps = parts.flatMap((part) => MEMBERS.map((member) => part[member]).filter(isRecord));
  // A fragment, as documentation shows it: servers by name, and nothing around them.
  if (maps.length === 0 && isFragment(file)) maps.push(file);
  if (maps.length === 0) return undefined;
  return {
    servers: new Map(maps.flatMap((map) => Object.entries(map))),
    inputs: new Map(parts.flatMap((part) => inputsOf(part.inputs))),
  };
}

function isFragment(file: Unread): boolean {
  const definitions = Object.values(file);
  return definitions.length > 0 && definitions.every(looksLikeServer);
}

function looksLikeServer(value: unknown): boolean {
  return (
    isRecord(value) && ["command", "url", "serverUrl", "httpUrl"].some((name) => name in value)
  );
}

function inputsOf(inputs: unknown): (readonly [string, string | undefined])[] {
  if (!Array.isArray(inputs)) return [];
  return inputs.filter(isRecord).flatMap(({ id, default: preset }) => {
    if (typeof id !== "string") return [];
    return [[id, typeof preset === "string" ? preset : undefined] as const];
  });
}
