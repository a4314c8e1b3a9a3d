import type { Instance } from "./engine.ts";
import { LENT, type Control, type Prepared } from "./prepare.ts";
import { KIND } from "./protocol.ts";
import { Vm, type Answer, type Outcome, type Value } from "./vm.ts";

/** What one run lends to its interpreter; bytes are views, valid only during the call. */
export interface InterpreterHost {
  /** Starts a host call; a string says why it is refused. */
  call(index: number, id: number, json: boolean, bytes: Uint8Array): string | undefined;
  log(json: boolean, bytes: Uint8Array): void;
  done(kind: "nothing" | "json" | "text", bytes: Uint8Array): void;
  failed(limit: "none" | "memory" | "stack", json: boolean, bytes: Uint8Array): void;
  /** The code does not compile: JSON of the message, the line and the column. */
  invalid(bytes: Uint8Array): void;
  /** Whether the guest must stop computing; asked every few thousand steps. */
  overBudget(): boolean;
  /** Whether the run needs no more of the interpreter. */
  readonly ended: boolean;
}

/**
 * What exists only while an answer is moved in: its bytes as they came and, unless the text itself
 * is what the program gets, the string that is parsed, in two bytes for each character.
 */
const MOVING_COPIES = { text: 1, parsed: 3 };

/** What compiling takes for each byte of source, at most, and what it takes in any case. */
const COMPILING = { perByte: 32, bytes: 1024 * 1024 };

const FILE = "program.js";

/**
 * Thrown through the interpreter to end what it computes. Its own interruption ends one function
 * only where that is an async one, and a loop that calls many goes on. The instance is unusable then.
 */
export class Stopped extends Error {}

/** One QuickJS guest in a WebAssembly instance of its own; serves one run at a time. */
export class Interpreter {
  readonly #instance: Instance;
  readonly #prepared: Prepared;
  readonly #vm: Vm;
  #host: InterpreterHost | undefined;
  /** Runs that this instance has begun. */
  uses = 0;

  /** @param prepared what {@link prepare} made in another instance of the same engine */
  private constructor(instance: Instance, prepared: Prepared) {
    this.#instance = instance;
    this.#prepared = prepared;
    const owner = {
      called: (id: number, values: readonly Value[]) => this.#called(id, values),
      interrupted: () => {
        if (this.#host?.overBudget() ?? true) throw new Stopped();
        return false;
      },
    };
    this.#vm = new Vm(instance, owner, prepared.anatomy);
  }

  /** A guest in the prepared state; `undefined` when there is no memory for it. */
  static create(instance: Instance, prepared: Prepared): Interpreter | undefined {
    const interpreter = new Interpreter(instance, prepared);
    instance.limitHeap(prepared.heapBytes);
    if (interpreter.#vm.growTo(prepared.image.bytes) && interpreter.restore()) return interpreter;
    interpreter.drop();
    return undefined;
  }

  /** Which bound has refused memory to this guest: its own or the one of the process. */
  get refusedMemory(): "own" | "process" | undefined {
    return this.#instance.refused();
  }

  /** Evaluates a program, calls what it evaluates to, and runs it as far as it goes. */
  begin(host: InterpreterHost, code: Uint8Array): void {
    this.#host = host;
    this.uses++;
    const outcome = this.#evaluate(code);
    if (outcome?.threw) {
      if (!this.#refused(code)) this.#tell("fail", [outcome.value]);
    } else if (outcome && !this.#call(outcome.value)) {
      // A script that starts with `function` is a declaration: only parentheses make it a value.
      const value = this.#evaluate(Buffer.from(`(${Buffer.from(code)}\n)`));
      if (!value || value.threw || !this.#call(value.value)) {
        host.failed("none", false, Buffer.from("TypeError: the code is not a function"));
      }
    }
    this.#runJobs();
  }

  /** Carries a host call's outcome into the guest without running guest code. */
  take(id: number, kind: number, bytes: Uint8Array): void {
    const vm = this.#vm;
    const { heapBytes, reads } = this.#prepared;
    const copies = kind === KIND.json || reads ? MOVING_COPIES.parsed : MOVING_COPIES.text;
    this.#instance.limitHeap(heapBytes + copies * bytes.length);
    const text = vm.string(bytes);
    if (text === undefined) return this.#host?.failed("memory", false, new Uint8Array());
    const { value, threw } = vm.invoke(this.#prepared.control.take, [
      vm.number(id),
      vm.number(kind),
      text,
    ]);
    if (threw) this.#tell("fail", [value]);
    vm.free(text);
    this.#instance.limitHeap(heapBytes);
  }

  /** Settles a host call with what {@link take} carried and runs the guest as far as it goes. */
  settle(id: number): void {
    this.#tell("settle", [this.#vm.number(id)]);
    this.#runJobs();
  }

  /** Prints why promises were rejected that nobody has handled. */
  tellRejected(): void {
    for (const reason of this.#vm.takeRejected()) this.#tell("unhandled", [reason]);
  }

  /** Undoes a run; false when the instance should not serve again. */
  restore(): boolean {
    this.#host = undefined;
    this.#vm.takeRejected();
    return this.#prepared.image.restore(this.#vm.heap);
  }

  /** Gives the memory back; the interpreter must not be used again. */
  drop(): void {
    this.#host = undefined;
    this.#instance.drop();
  }

  #evaluate(code: Uint8Array): Outcome | undefined {
    const outcome = this.#vm.evaluate(code, FILE);
    if (outcome === undefined) {
      this.#host?.failed("memory", false, Buffer.from("InternalError: out of memory"));
    }
    return outcome;
  }

  /**
   * Whether code that threw does not compile, in which case it has not run. What it throws itself
   * says nothing about that, so it is compiled once more, with room that it cannot have used up.
   */
  #refused(code: Uint8Array): boolean {
    if (this.refusedMemory) return false;
    const { heapBytes, control } = this.#prepared;
    const vm = this.#vm;
    const room = COMPILING.bytes + COMPILING.perByte * code.length;
    this.#instance.limitHeap(heapBytes + room);
    const compiled = vm.compile(code, FILE);
    this.#instance.limitHeap(heapBytes);
    if (compiled === undefined) return false;
    if (compiled.threw)
      return vm.toNumber(vm.invoke(control.invalid, [compiled.value]).value) === 1;
    vm.free(compiled.value);
    return false;
  }

  #call(program: Value): boolean {
    const vm = this.#vm;
    const seed = () => vm.number((Math.random() * 2 ** 32) | 0);
    const values = [program, seed(), seed(), seed(), seed()];
    const { value, threw } = vm.invoke(this.#prepared.control.run, values);
    return threw || vm.toNumber(value) === 1;
  }

  #runJobs(): void {
    const host = this.#host;
    this.#vm.runJobs(() => host === undefined || host.ended || host.overBudget());
  }

  /** Calls a function of the bridge and frees what it was given. */
  #tell(part: keyof Control, values: readonly Value[]): boolean {
    const { value, threw } = this.#vm.invoke(this.#prepared.control[part], values);
    this.#vm.free(value);
    for (const given of values) this.#vm.free(given);
    return !threw;
  }

  #called(id: number, values: readonly Value[]): Answer {
    const vm = this.#vm;
    const host = this.#host;
    if (host === undefined || host.ended) return "undefined";
    const number = (at: number) => vm.toNumber(values[at] ?? vm.undefined);
    const flag = (at: number) => number(at) === 1;
    const text = values.at(-2) ?? vm.undefined;
    const crossed = (visit: (bytes: Uint8Array) => void) => {
      const outcome = vm.withText(text, number(values.length - 1), visit);
      if (outcome === "no room") host.failed("memory", false, new Uint8Array());
      return outcome === "unfit" ? "true" : "undefined";
    };
    switch (LENT[id - 1]) {
      case "call": {
        // Host calls with large arguments are few and long: the interpreter asks too rarely.
        if (host.overBudget()) throw new Stopped();
        let refusal: string | undefined;
        const answer = crossed((bytes) => {
          refusal = host.call(number(0), number(1), flag(2), bytes);
        });
        return refusal === undefined ? answer : (vm.string(Buffer.from(refusal)) ?? "undefined");
      }
      case "log":
        return crossed((bytes) => host.log(flag(0), bytes));
      case "done": {
        this.tellRejected();
        const kinds = ["nothing", "json", "text"] as const;
        return crossed((bytes) => host.done(kinds[number(0)] ?? "nothing", bytes));
      }
      case "failed": {
        this.tellRejected();
        const limit = flag(0) ? "stack" : "none";
        return crossed((bytes) => host.failed(limit, flag(1), bytes));
      }
      case "invalid":
        return crossed((bytes) => host.invalid(bytes));
      case "isPromise":
        return vm.isPromise(values[0] ?? vm.undefined) ? "true" : "undefined";
      default:
        return "undefined";
    }
  }
}
