import type { Connector, Tool } from "../shared/contracts.ts";
import { hashOf } from "../shared/digest.ts";
import { identifier } from "../shared/identifier.ts";
import { titleOf } from "./title.ts";
import { compact } from "./tokens.ts";
import { IndexBuild } from "./tool-index.ts";

/** A name, and what misspellings of it are compared with. */
export interface Spelling {
  readonly name: string;
  /** Without case, accents and punctuation. */
  readonly plain: string;
}

/** What of a connector its catalog is found by. */
export type Titled = Pick<Connector, "id" | "title" | "ownTitle">;

/** One connector's tools, whole, as they were at one moment. */
export class Catalog {
  readonly connectorId: string;
  /** What queries may call the connector besides its id. */
  readonly title: string | undefined;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Differs whenever a tool differs. */
  readonly fingerprint: string;
  readonly index: IndexBuild;
  #shortcuts: ReadonlyMap<string, readonly string[]> | undefined;
  #spellings: readonly Spelling[] | undefined;

  constructor(connector: Titled, tools: readonly Tool[], fingerprint: string) {
    this.connectorId = connector.id;
    const named = new Map<string, Tool>();
    for (const tool of tools) if (!named.has(tool.name)) named.set(tool.name, tool);
    this.tools = named;
    this.fingerprint = fingerprint;
    this.title = titleOf(connector);
    this.index = new IndexBuild({ id: connector.id, title: this.title }, [...named.values()]);
  }

  /** The tools' names as suggestions are chosen from; read once, since every miss looks at all. */
  get spellings(): readonly Spelling[] {
    this.#spellings ??= [...this.tools.keys()].map(spelling);
    return this.#spellings;
  }

  /** The names of the tools that a shortcut's property may mean. */
  shortcut(property: string): readonly string[] {
    this.#shortcuts ??= shortcutsOf(this.tools.keys());
    const names = this.#shortcuts.get(property);
    if (names) return names;
    // Written in brackets, a name that is no identifier can only mean itself.
    return this.tools.has(property) ? [property] : [];
  }
}

/** A name with its plain spelling. */
export function spelling(name: string): Spelling {
  return { name, plain: compact(name) };
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
  return hashOf(JSON.stringify(tools));
}
