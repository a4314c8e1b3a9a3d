import type { Connector, Tool } from "../shared/contracts.ts";
import { fail, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import type { Scope } from "../shared/scope.ts";
import type { Storage } from "../shared/storage.ts";
import { clampUtf8 } from "../shared/text.ts";
import type { Catalog } from "./catalog.ts";
import { Kept } from "./kept.ts";
import { Loads, type CatalogTimes } from "./loads.ts";
import { pause } from "./pause.ts";
import { suggestAddresses, suggestTools } from "./suggest.ts";
import { Vocabulary } from "./vocabulary.ts";

export type { Catalog } from "./catalog.ts";
export type { CatalogTimes } from "./loads.ts";

/** What an address leads to. */
export interface Resolution {
  readonly connector: Connector;
  readonly tool: Tool;
  readonly catalog: Catalog;
}

/** So few tools are indexed without letting others run in between. */
const FEW_TOOLS = 200;

/** What a deployment's connectors offer, by connector, by address and by shortcut. */
export class Catalogs {
  readonly #connectors: ReadonlyMap<string, Connector>;
  readonly #longestId: number;
  readonly #loads: Loads;
  readonly #vocabulary = new Vocabulary();

  /**
   * @param connectors in the order in which discovery lists them; their ids are unique
   * @param times overrides of the limits that catalogs have by default
   * @param storage where tool lists survive a restart; without it none does
   */
  constructor(
    connectors: readonly Connector[],
    times: Partial<CatalogTimes> = {},
    storage?: Storage,
  ) {
    this.#connectors = new Map(connectors.map((connector) => [connector.id, connector]));
    this.#longestId = connectors.reduce((longest, { id }) => Math.max(longest, id.length), 0);
    const all: CatalogTimes = {
      freshMs: LIMITS.catalogFreshMs.value,
      staleMs: LIMITS.catalogStaleMs.value,
      timeoutMs: LIMITS.catalogTimeoutMs.value,
      retryMs: LIMITS.catalogRetryMs.value,
      ...times,
    };
    const prepare = async (catalog: Catalog) => {
      await pause();
      await this.indexed([catalog]);
    };
    this.#loads = new Loads(all, prepare, storage && new Kept(storage, all.staleMs));
    for (const each of connectors) each.onToolsChanged?.(() => this.markStale(each.id));
  }

  /** The configured connectors, in order. */
  get connectors(): readonly Connector[] {
    return [...this.#connectors.values()];
  }

  /** The connector of an id. */
  connector(id: string): Connector | undefined {
    return this.#connectors.get(id);
  }

  /** The connector that an address begins with, whether or not it has the tool. */
  connectorOf(address: string): Connector | undefined {
    let dot = address.lastIndexOf(".", this.#longestId);
    for (; dot > 0; dot = address.lastIndexOf(".", dot - 1)) {
      const connector = this.#connectors.get(address.slice(0, dot));
      if (connector !== undefined) return connector;
    }
    return undefined;
  }

  /** The last good catalog of a connector, without loading anything. */
  loaded(connectorId: string): Catalog | undefined {
    return this.#loads.last(connectorId);
  }

  /**
   * A connector's catalog. Concurrent callers share one load; a caller that goes away fails alone.
   * Failures: `unknown_address`, `catalog_lookup_failed`, `unavailable`, `auth_required`,
   * `rate_limited`, `cancelled`.
   */
  async load(connectorId: string, scope: Scope): Promise<Outcome<Catalog>> {
    const connector = this.#connectors.get(connectorId);
    if (connector !== undefined) return this.#loads.load(connector, scope);
    return fail("unknown_address", `There is no connector ${quote(connectorId)}.`, {
      connector: echo(connectorId),
      ...suggested(suggestAddresses(this, connectorId)),
    });
  }

  /** A connector's catalog where nobody has to wait for it. */
  ready(connectorId: string, scope: Scope): Catalog | undefined {
    const connector = this.#connectors.get(connectorId);
    return connector && this.#loads.ready(connector, scope);
  }

  /** Why the last refresh failed of a catalog that is served nevertheless. */
  setback(connectorId: string): Failure | undefined {
    return this.#loads.setback(connectorId);
  }

  /** Makes the next reader refresh a catalog, whatever its age; earlier failures are forgotten. */
  markStale(connectorId: string): void {
    this.#loads.markStale(connectorId);
  }

  /**
   * What a canonical address leads to: the longest connector id before a dot, then the tool's name.
   * Failures: those of {@link load}, `unknown_address` and `unknown_tool` with `suggestions`.
   * @param suggest whether a miss looks for what was meant, which costs as much as a search
   */
  async resolve(address: string, scope: Scope, suggest = true): Promise<Outcome<Resolution>> {
    const connector = this.connectorOf(address);
    if (connector === undefined) {
      const suggestions = suggest ? suggestAddresses(this, address) : [];
      const message = `No connector has the address ${quote(address)}.${didYouMean(suggestions)}`;
      return fail("unknown_address", message, {
        address: echo(address),
        ...suggested(suggestions),
      });
    }
    const loaded = await this.#loads.load(connector, scope);
    if (!loaded.ok) return loaded;
    const catalog = loaded.value;
    const name = address.slice(connector.id.length + 1);
    const tool = catalog.tools.get(name);
    if (tool === undefined) return this.#unknownTool(catalog, name, suggest);
    return ok({ connector, tool, catalog });
  }

  /**
   * The canonical address that a property of a connector's shortcut stands for.
   * Failures: those of {@link load}, `unknown_tool`, `ambiguous_tool_alias` with `addresses`.
   */
  async shortcut(connectorId: string, property: string, scope: Scope): Promise<Outcome<string>> {
    const loaded = await this.load(connectorId, scope);
    if (!loaded.ok) return loaded;
    const names = loaded.value.shortcut(property);
    const [name] = names;
    if (name === undefined) return this.#unknownTool(loaded.value, property, true);
    if (names.length === 1) return ok(`${connectorId}.${name}`);
    return fail(
      "ambiguous_tool_alias",
      `${quote(property)} stands for ${names.length} tools of ${connectorId}.`,
      { connector: connectorId, addresses: names.map((each) => `${connectorId}.${each}`) },
    );
  }

  /** The words of these catalogs' tools, ready to rank; builds what is not built yet. */
  async indexed(catalogs: readonly Catalog[]): Promise<Vocabulary> {
    const waiting = catalogs.filter(({ index }) => index.index === undefined);
    const tools = waiting.reduce((sum, catalog) => sum + catalog.tools.size, 0);
    for (const { index } of waiting) {
      while (index.index === undefined) {
        index.step();
        if (tools > FEW_TOOLS) await pause();
      }
    }
    for (const { connectorId, index } of catalogs) {
      if (index.index !== undefined) this.#vocabulary.set(connectorId, index.index);
    }
    return this.#vocabulary;
  }

  /** Stops every load that is under way; resolves when what was loaded is stored. */
  close(): Promise<void> {
    return this.#loads.close();
  }

  async #unknownTool(catalog: Catalog, name: string, suggest: boolean): Promise<Outcome<never>> {
    const { connectorId } = catalog;
    const suggestions = suggest ? suggestTools(await this.indexed([catalog]), catalog, name) : [];
    const message = `Connector ${connectorId} has no tool ${quote(name)}.${didYouMean(suggestions)}`;
    return fail("unknown_tool", message, {
      address: echo(`${connectorId}.${name}`),
      connector: connectorId,
      ...suggested(suggestions),
    });
  }
}

function didYouMean([first]: readonly string[]): string {
  return first === undefined ? "" : ` Did you mean ${first}?`;
}

function suggested(suggestions: readonly string[]) {
  return suggestions.length > 0 ? { suggestions } : {};
}

function echo(text: string): string {
  const bytes = LIMITS.echoBytes.value;
  // No character has less than a byte: what stands further back need not be measured.
  return clampUtf8(text.slice(0, bytes), bytes);
}

function quote(text: string): string {
  return JSON.stringify(echo(text));
}
