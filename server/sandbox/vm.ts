import {
  EvalFlags,
  type BorrowedHeapCharPointer,
  type EvalDetectModule,
  type HostRefId,
  type IntrinsicsFlags,
  type JSContextPointer,
  type JSContextPointerPointer,
  type JSRuntimePointer,
  type JSValueConstPointer,
  type JSValueConstPointerPointer,
  type JSValuePointer,
} from "quickjs-emscripten";
import { STACK_BYTES, type Instance } from "./engine.ts";
import { unitsOf } from "./protocol.ts";
import { trackRejections } from "./rejections.ts";

/** A value inside the guest, owned or lent. */
export type Value = JSValuePointer | JSValueConstPointer;

/** What a piece of guest code came to: its value, or what it threw. */
export interface Outcome {
  readonly value: Value;
  readonly threw: boolean;
}

/** What a lent function answers to the guest. */
export type Answer = JSValuePointer | "true" | "undefined";

/** What the guest's machine asks of its owner. */
export interface VmOwner {
  /** A function made by {@link Vm.lend} was called; what it answers belongs to the guest. */
  called(id: number, values: readonly Value[]): Answer;
  /** Whether guest code must stop computing; asked every few thousand steps. */
  interrupted(): boolean;
}

/** Addresses of one machine's parts; the same in every instance that holds the same memory. */
export interface Anatomy {
  readonly runtime: JSRuntimePointer;
  readonly context: JSContextPointer;
  readonly arguments: number;
  readonly out: number;
  /** Room for one value as the interpreter passes it. */
  readonly slot: number;
}

/** A promise that was rejected and has no handler. */
interface Rejected {
  readonly promise: bigint;
  readonly reason: Value;
}

const SCRIPT = (EvalFlags.JS_EVAL_TYPE_GLOBAL | EvalFlags.JS_EVAL_FLAG_STRICT) as EvalFlags;
const COMPILE_ONLY = (SCRIPT | EvalFlags.JS_EVAL_FLAG_COMPILE_ONLY) as EvalFlags;
const NEVER_A_MODULE = 0 as EvalDetectModule;
const ALL_INTRINSICS = 0 as IntrinsicsFlags;
const MAX_ARGUMENTS = 8;
const JOBS_PER_SLICE = 512;

/** Words at the start of a runtime among which its handlers are. */
const RUNTIME_WORDS = 128;

/** Unhandled rejections that are kept; a program that makes more of them says no more by it. */
const MAX_REJECTED = 20;

/**
 * One QuickJS runtime and context on the C functions of an instance. The C functions and not the
 * package's handles, because text crosses as bytes and a run is undone by restoring memory, which
 * handles that count references would contradict.
 */
export class Vm {
  /** Where this machine's parts are in its memory. */
  readonly anatomy: Anatomy;
  readonly #instance: Instance;
  readonly #context: JSContextPointer;
  readonly undefined: Value;
  #rejected: Rejected[] = [];

  /** @param anatomy where things are, in memory that another instance has prepared */
  constructor(instance: Instance, owner: VmOwner, anatomy: Anatomy = create(instance)) {
    const { ffi, module } = instance;
    this.#instance = instance;
    this.anatomy = anatomy;
    this.#context = anatomy.context;
    this.undefined = ffi.QTS_GetUndefined();
    module.callbacks = {
      callFunction: (_asyncify, _context, _self, count, values, id) => {
        const list: Value[] = [];
        for (let at = 0; at < count; at++)
          list.push(ffi.QTS_ArgvGetJSValueConstPointer(values, at));
        const answer = owner.called(id, list);
        if (typeof answer === "number") return answer;
        const constant = answer === "true" ? ffi.QTS_GetTrue() : this.undefined;
        return ffi.QTS_DupValuePointer(this.#context, constant);
      },
      shouldInterrupt: () => (owner.interrupted() ? 1 : 0),
      freeHostRef() {},
      loadModuleSource: () => 0 as BorrowedHeapCharPointer,
      normalizeModule: () => 0 as BorrowedHeapCharPointer,
    };
    const { rejections } = instance;
    if (rejections) {
      rejections.listener = (promise, reason, handled) => {
        if (handled) this.#forgive(promise);
        else if (this.#rejected.length < MAX_REJECTED) this.#accuse(promise, reason);
      };
    }
  }

  /** The instance's memory as it is now; a growth replaces it. */
  get heap(): Uint8Array {
    return this.#instance.module.HEAPU8;
  }

  limitStack(bytes: number): void {
    this.#instance.ffi.QTS_RuntimeSetMaxStackSize(this.anatomy.runtime, bytes);
  }

  /** Makes the memory at least this large; false when it may not be. */
  growTo(bytes: number): boolean {
    if (this.heap.length >= bytes) return true;
    return this.#instance.module._malloc(bytes - STACK_BYTES) !== 0;
  }

  /** A guest function that calls {@link VmOwner.called} with this id. */
  lend(id: number): Value {
    return this.#instance.ffi.QTS_NewFunction(this.#context, "", 0, false, id as HostRefId);
  }

  /** Evaluates UTF-8 source as one strict script; `undefined` without room for the source. */
  evaluate(source: Uint8Array, file: string): Outcome | undefined {
    return this.#eval(source, file, SCRIPT);
  }

  /** Compiles source as {@link evaluate} does and runs nothing of it; the value is the bytecode. */
  compile(source: Uint8Array, file: string): Outcome | undefined {
    return this.#eval(source, file, COMPILE_ONLY);
  }

  /** Calls a guest function without `this`. */
  invoke(callee: Value, values: readonly Value[]): Outcome {
    const { ffi } = this.#instance;
    new Uint32Array(this.heap.buffer, this.anatomy.arguments, MAX_ARGUMENTS).set(values);
    const list = this.anatomy.arguments as JSValueConstPointerPointer;
    const { undefined: self } = this;
    return this.#outcome(ffi.QTS_Call(this.#context, callee, self, values.length, list));
  }

  /** Runs pending jobs until there is none or `stop` says so between two slices. */
  runJobs(stop: () => boolean): void {
    const { ffi } = this.#instance;
    while (!stop() && ffi.QTS_IsJobPending(this.anatomy.runtime)) {
      new Uint32Array(this.heap.buffer, this.anatomy.out, 1)[0] = 0;
      const out = this.anatomy.out as JSContextPointerPointer;
      const value = ffi.QTS_ExecutePendingJob(this.anatomy.runtime, JOBS_PER_SLICE, out);
      ffi.QTS_FreeValuePointerRuntime(this.anatomy.runtime, value);
    }
  }

  /** Whether a value is a promise itself, not something that looks like one. */
  isPromise(value: Value): boolean {
    return this.#instance.ffi.QTS_PromiseState(this.#context, value) >= 0;
  }

  /** Why promises were rejected that have no handler, the oldest first; each is told once. */
  takeRejected(): Value[] {
    const reasons = this.#rejected.map(({ reason }) => reason);
    this.#rejected = [];
    return reasons;
  }

  /** The element of a guest array. */
  element(array: Value, at: number): Value {
    return this.#instance.ffi.QTS_GetPropNumber(this.#context, array, at);
  }

  /** A guest string of UTF-8 bytes without NUL; `undefined` when the guest has no room for it. */
  string(bytes: Uint8Array): JSValuePointer | undefined {
    const { ffi, module } = this.#instance;
    const at = this.#copyIn(bytes);
    if (at === undefined) return undefined;
    const value = ffi.QTS_NewString(this.#context, at as BorrowedHeapCharPointer);
    module._free(at);
    const { threw } = this.#outcome(value);
    return threw ? undefined : value;
  }

  number(value: number): Value {
    return this.#instance.ffi.QTS_NewFloat64(this.#context, value);
  }

  toNumber(value: Value): number {
    return this.#instance.ffi.QTS_GetFloat64(this.#context, value);
  }

  free(value: Value): void {
    this.#instance.ffi.QTS_FreeValuePointer(this.#context, value as JSValuePointer);
  }

  /**
   * Shows the UTF-8 of a guest string to `visit`. "unfit", and nothing shown, for a string that has
   * no such bytes: one with a NUL, which ends C strings, or with half of a surrogate pair.
   * @param units the string's length in UTF-16 units
   */
  withText(
    value: Value,
    units: number,
    visit: (bytes: Uint8Array) => void,
  ): "shown" | "unfit" | "no room" {
    const { ffi } = this.#instance;
    const pointer = ffi.QTS_GetString(this.#context, value);
    if (!pointer) return "no room";
    const { heap } = this;
    const bytes = heap.subarray(pointer, heap.indexOf(0, pointer));
    const fit = units === unitsOf(bytes);
    if (fit) visit(bytes);
    ffi.QTS_FreeCString(this.#context, pointer);
    return fit ? "shown" : "unfit";
  }

  #eval(source: Uint8Array, file: string, flags: EvalFlags): Outcome | undefined {
    const { ffi, module } = this.#instance;
    const at = this.#copyIn(source);
    if (at === undefined) return undefined;
    const text = at as BorrowedHeapCharPointer;
    const value = ffi.QTS_Eval(this.#context, text, source.length, file, NEVER_A_MODULE, flags);
    module._free(at);
    return this.#outcome(value);
  }

  #accuse(promise: bigint, raw: bigint): void {
    new BigInt64Array(this.heap.buffer, this.anatomy.slot, 1)[0] = raw;
    const slot = this.anatomy.slot as JSValuePointer;
    const reason = this.#instance.ffi.QTS_DupValuePointer(this.#context, slot);
    if (reason) this.#rejected.push({ promise, reason });
  }

  /** The promise's address may have been another's before: the last one is meant. */
  #forgive(promise: bigint): void {
    const at = this.#rejected.findLastIndex((rejected) => rejected.promise === promise);
    const [forgiven] = at < 0 ? [] : this.#rejected.splice(at, 1);
    if (forgiven) this.free(forgiven.reason);
  }

  #outcome(value: JSValuePointer): Outcome {
    const error = this.#instance.ffi.QTS_ResolveException(this.#context, value);
    return error ? { value: error, threw: true } : { value, threw: false };
  }

  #copyIn(bytes: Uint8Array): number | undefined {
    const at = this.#instance.module._malloc(bytes.length + 1);
    if (at === 0) return undefined;
    this.heap.set(bytes, at);
    this.heap[at + bytes.length] = 0;
    return at;
  }
}

function create({ ffi, module, rejections }: Instance): Anatomy {
  const runtime = ffi.QTS_NewRuntime();
  const context = ffi.QTS_NewContext(runtime, ALL_INTRINSICS);
  trackRejections(
    rejections,
    () => new Uint32Array(module.HEAPU8.buffer, runtime, RUNTIME_WORDS),
    () => ffi.QTS_RuntimeEnableInterruptHandler(runtime),
  );
  const words = module._malloc(4 * MAX_ARGUMENTS);
  return { runtime, context, arguments: words, out: module._malloc(4), slot: module._malloc(8) };
}
