import type { Engine, HeapBudget } from "./engine.ts";
import { Interpreter } from "./interpreter.ts";
import { prepare, type Prepared } from "./prepare.ts";
import type { Setup } from "./setup.ts";

/** Runs after which an instance is replaced, whatever they did. */
const MAX_USES = 100;

/** Interpreters ready before they are needed; below `urgent` they are made without delay. */
const SPARES = { urgent: 2, ready: 4, most: 32 };

/** Quiet time before spares are made up to `ready`, or given back down to it, in milliseconds. */
const REFILL_MS = 20;
const TRIM_MS = 1_000;

/** What a setup came to in this process; `prepared` is a sentence when a prelude failed. */
export interface KnownSetup {
  readonly id: number;
  readonly setup: Setup;
  readonly prepared: Prepared | string;
  readonly spares: Interpreter[];
}

/** Prepared interpreters of one process, made and cleared outside of the runs. */
export class Spares {
  readonly #engine: Engine;
  readonly #budget: HeapBudget;
  readonly #known = new Map<number, Promise<KnownSetup | undefined>>();
  readonly #bounds = new Map<number, number>();
  readonly #ready = new Map<number, KnownSetup>();
  #latest: KnownSetup | undefined;
  #refill: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #trim: NodeJS.Timeout | undefined;

  constructor(engine: Engine, budget: HeapBudget) {
    this.#engine = engine;
    this.#budget = budget;
  }

  /** Prepares a setup under an id; of all their bounds for the process the smallest holds. */
  add(id: number, setup: Setup): void {
    this.#bounds.set(id, setup.limits.processHeapBytes);
    this.#limit();
    this.#known.set(id, this.#prepare(id, setup));
  }

  /** Forgets a setup and the interpreters prepared for it. */
  async forget(id: number): Promise<void> {
    const known = await this.#known.get(id);
    this.#known.delete(id);
    this.#bounds.delete(id);
    this.#limit();
    if (known === undefined) return;
    this.#ready.delete(id);
    this.#trimTo(known, 0);
    if (this.#latest === known) this.#latest = undefined;
  }

  /** A setup that {@link add} was given; `undefined` when there was no memory to prepare it. */
  async known(id: number): Promise<KnownSetup | undefined> {
    return this.#known.get(id);
  }

  /** A setup and an interpreter for it, when both are there already. */
  ready(id: number): { known: KnownSetup; interpreter: Interpreter } | undefined {
    const known = this.#ready.get(id);
    const interpreter = known?.spares.pop();
    if (known === undefined || interpreter === undefined) return undefined;
    this.#latest = known;
    this.#plan();
    return { known, interpreter };
  }

  /** An interpreter in the prepared state; `undefined` when there is no memory for one. */
  async take(known: KnownSetup): Promise<Interpreter | undefined> {
    this.#latest = known;
    const interpreter = known.spares.pop() ?? (await this.#make(known));
    this.#plan();
    return interpreter;
  }

  /** Takes an interpreter back after its run and clears it when the run ended as runs should. */
  giveBack(known: KnownSetup, interpreter: Interpreter, clean: boolean): void {
    const serves =
      clean &&
      this.#ready.get(known.id) === known &&
      interpreter.uses < MAX_USES &&
      known.spares.length < SPARES.most &&
      interpreter.restore();
    if (serves) known.spares.push(interpreter);
    else interpreter.drop();
    if (this.#trim === undefined) this.#trim = setTimeout(() => this.#settle(), TRIM_MS);
    this.#plan();
  }

  #limit(): void {
    this.#budget.limit(Math.min(...this.#bounds.values()));
  }

  #plan(): void {
    const count = this.#latest?.spares.length ?? SPARES.ready;
    if (this.#refill !== undefined || count >= SPARES.ready) return;
    const fill = () => void this.#fill();
    this.#refill = count < SPARES.urgent ? setImmediate(fill) : setTimeout(fill, REFILL_MS);
  }

  async #fill(): Promise<void> {
    const known = this.#latest;
    const spare = known && (await this.#make(known));
    this.#refill = undefined;
    if (!spare) return;
    known.spares.push(spare);
    this.#plan();
  }

  #settle(): void {
    this.#trim = undefined;
    for (const known of this.#ready.values()) {
      this.#trimTo(known, known === this.#latest ? SPARES.ready : 0);
    }
    this.#budget.collect();
  }

  #trimTo({ spares }: KnownSetup, count: number): void {
    for (const spare of spares.splice(count)) spare.drop();
  }

  async #make({ prepared }: KnownSetup): Promise<Interpreter | undefined> {
    if (typeof prepared === "string") return undefined;
    const instance = await this.#engine.instantiate();
    return instance && Interpreter.create(instance, prepared);
  }

  async #prepare(id: number, setup: Setup): Promise<KnownSetup | undefined> {
    const instance = await this.#engine.instantiate();
    if (instance === undefined) return undefined;
    const prepared = prepare(instance, setup);
    const first = typeof prepared === "string" ? undefined : Interpreter.create(instance, prepared);
    if (first === undefined) instance.drop();
    const known = { id, setup, prepared, spares: first ? [first] : [] };
    this.#ready.set(id, known);
    return known;
  }
}
