import type { Connector, Tool } from "../shared/contracts.ts";
import { toUtf8 } from "../shared/text.ts";
import { identifier } from "./identifier.ts";
import { IndexBuild } from "./tool-index.ts";

/** One connector's tools, whole, as they were at one moment. */
export class Catalog {
  readonly connectorId: string;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Differs whenever a tool differs. */
  readonly fingerprint: string;
  readonly index: IndexBuild;
  #shortcuts: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(connector: Connector, tools: readonly Tool[], fingerprint: string) {
    this.connectorId = connector.id;
    const named = new Map<string, Tool>();
    for (const tool of tools) if (!named.has(tool.name)) named.set(tool.name, tool);
    this.tools = named;
    this.fingerprint = fingerprint;
    this.index = new IndexBuild(connector, [...named.values()]);
  }

  /** The names of the tools that a shortcut's property may mean; an exact name means itself. */
  shortcut(property: string): readonly string[] {
    if (this.tools.has(property)) return [property];
    this.#shortcuts ??= shortcutsOf(this.tools.keys());
    return this.#shortcuts.get(property) ?? [];
  }
}

function shortcutsOf(names: Iterable<string>): Map<string, string[]> {
  const shortcuts = new Map<string, string[]>();
  for (const name of names) {
    const property = identifier(name);
    const known = shortcuts.get(property);
    if (known === undefined) shortcuts.set(property, [name]);
    else known.push(name);
  }
  return shortcuts;
}

/** A hash of everything that a tool list declares, in hexadecimal. */
export async function fingerprint(tools: readonly Tool[]): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new Uint8Array(toUtf8(JSON.stringify(tools))),
  );
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
