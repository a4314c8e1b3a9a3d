import type { Tool } from "../shared/contracts.ts";
import { actionOf } from "./actions.ts";
import { isExplicitlyReadOnly } from "./classify.ts";
import { compact, pieces, TermReader, terms } from "./tokens.ts";
import { FIELDS, fieldTerms, type FieldName, type FieldSource } from "./fields.ts";

/** How many tools one step indexes: a few milliseconds of work. */
const STEP_TOOLS = 40;
/** How much of a name is searched for a verb. */
const MAX_NAME_PIECES = 32;

/** Parts of names that say nothing about what a tool does. */
const FILLERS = /^(?:v?\d+|api|tool|mcp|by|id|to|for|with|in|of|from|the|a|an)$/;

/** Words read before, for all builds of the process: bounded, and never wrong. */
const reader = new TermReader();

/** A term's postings while they are collected: triples of tool, weight and share of its name. */
type Draft = number[];

/**
 * The inverted index of one catalog. Postings lie flat: those of term `i` are
 * `offsets[i]` to `offsets[i + 1]` in `postings`, `weights` and `nameShares`.
 */
export interface ToolIndex {
  readonly tools: readonly Tool[];
  readonly readOnly: Uint8Array;
  /** What each tool's name says it does, see `actionOf`; 0 when its name does not say. */
  readonly actions: Uint8Array;
  readonly terms: ReadonlyMap<string, number>;
  /** Positions by name, case and punctuation left out. */
  readonly names: ReadonlyMap<string, readonly number[]>;
  /** The terms of the connector's id and title. */
  readonly connectorTerms: ReadonlySet<string>;
  readonly offsets: Uint32Array;
  readonly postings: Uint32Array;
  /** Occurrences of the term in the tool, weighted by field and field length. */
  readonly weights: Float32Array;
  /** The share of the tool's name that the term makes up; 0 when it is not in the name. */
  readonly nameShares: Float32Array;
}

/**
 * Builds a catalog's index in steps, so that a large catalog never holds up other requests.
 * Whoever needs the index drives it; two requests may take turns.
 */
export class IndexBuild {
  readonly #source: FieldSource;
  readonly #tools: readonly Tool[];
  readonly #drafts = new Map<string, Draft>();
  readonly #actions: number[] = [];
  readonly #names = new Map<string, number[]>();
  #done = 0;
  #index: ToolIndex | undefined;

  constructor(source: FieldSource, tools: readonly Tool[]) {
    this.#source = source;
    this.#tools = tools;
  }

  /** The finished index, or `undefined` while steps remain. */
  get index(): ToolIndex | undefined {
    return this.#index;
  }

  /** Indexes the next few tools; the last step assembles the index. */
  step(): void {
    if (this.#index !== undefined) return;
    const end = Math.min(this.#done + STEP_TOOLS, this.#tools.length);
    for (; this.#done < end; this.#done++) this.#add(this.#done);
    if (this.#done === this.#tools.length) this.#index = this.#assemble();
  }

  #add(position: number): void {
    const tool = this.#tools[position]!;
    const fields = fieldTerms(this.#source, tool, reader);
    const weights = new Map<string, number>();
    for (const field of Object.keys(FIELDS) as FieldName[]) weigh(weights, field, fields[field]);
    const own = new Set(fields.connector);
    const name = new Set(fields.name.filter((term) => !own.has(term) && !FILLERS.test(term)));
    this.#actions.push(nameAction(tool.name));
    const plain = compact(tool.name);
    this.#names.set(plain, [...(this.#names.get(plain) ?? []), position]);
    for (const [term, weight] of weights) {
      const share = name.has(term) ? 1 / name.size : 0;
      const draft = this.#drafts.get(term);
      if (draft === undefined) this.#drafts.set(term, [position, weight, share]);
      else draft.push(position, weight, share);
    }
  }

  #assemble(): ToolIndex {
    let total = 0;
    for (const draft of this.#drafts.values()) total += draft.length / 3;
    const numbers = new Map<string, number>();
    const offsets = new Uint32Array(this.#drafts.size + 1);
    const postings = new Uint32Array(total);
    const weights = new Float32Array(total);
    const nameShares = new Float32Array(total);
    let at = 0;
    for (const [term, draft] of this.#drafts) {
      offsets[numbers.size] = at;
      numbers.set(term, numbers.size);
      for (let i = 0; i < draft.length; i += 3, at++) {
        postings[at] = draft[i]!;
        weights[at] = draft[i + 1]!;
        nameShares[at] = draft[i + 2]!;
      }
    }
    offsets[numbers.size] = at;
    this.#drafts.clear();
    return {
      tools: this.#tools,
      readOnly: Uint8Array.from(this.#tools, (tool) => (isExplicitlyReadOnly(tool) ? 1 : 0)),
      actions: Uint8Array.from(this.#actions),
      names: this.#names,
      connectorTerms: new Set(terms(`${this.#source.id} ${this.#source.title ?? ""}`)),
      terms: numbers,
      offsets,
      postings,
      weights,
      nameShares,
    };
  }
}

/** The kind of action of the first word in a name that is one. */
function nameAction(name: string): number {
  for (const piece of pieces(name, MAX_NAME_PIECES)) {
    if (piece.kind === "run") continue;
    for (const part of piece.parts) {
      const kinds = actionOf(part);
      if (kinds !== 0) return kinds;
    }
  }
  return 0;
}

function weigh(weights: Map<string, number>, name: FieldName, found: readonly string[]): void {
  const { weight, usual, normalisation } = FIELDS[name];
  const length = 1 - normalisation + (normalisation * found.length) / usual;
  const each = weight / Math.max(length, 0.4);
  for (const term of found) weights.set(term, (weights.get(term) ?? 0) + each);
}
