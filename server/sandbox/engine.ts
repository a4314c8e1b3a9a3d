import {
  RELEASE_SYNC,
  type EmscriptenModuleLoader,
  type QuickJSEmscriptenModule,
} from "quickjs-emscripten";
import { adaptBinary, TABLE_EXPORT } from "./binary.ts";
import { followRejections, type Rejections } from "./rejections.ts";

/** The C functions of one instance, as the package types them. */
export type QuickJSFFI = InstanceType<Awaited<ReturnType<typeof RELEASE_SYNC.importFFI>>>;

const PAGE_BYTES = 64 * 1024;

/** The largest memory that the binary accepts. */
const MAX_PAGES = 32_768;

/** Bytes of every instance that are C stack, untouched but for a few pages. */
export const STACK_BYTES = 5 * 1024 * 1024;

/** Dropped memory is only garbage; above this the collector is asked to look at once. */
const GARBAGE_BYTES = 32 * 1024 * 1024;

const SECOND_LOOK_MS = 100;

/** Memory of all instances of this process, live or prepared. */
export class HeapBudget {
  #maxBytes: number;
  #usedBytes = 0;
  #garbageBytes = 0;

  /** @param maxBytes what all instances together may hold; no bound until one is known */
  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  /** Sets what all instances together may hold; what they hold already stays. */
  limit(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Reserves bytes; false, and nothing reserved, when they would cross the bound. */
  take(bytes: number): boolean {
    if (this.#usedBytes + this.#garbageBytes + bytes > this.#maxBytes) this.collect();
    if (this.#usedBytes + bytes > this.#maxBytes) return false;
    this.#usedBytes += bytes;
    return true;
  }

  /** Gives back what a dropped instance held. */
  drop(bytes: number): void {
    this.#usedBytes -= bytes;
    this.#garbageBytes += bytes;
    if (this.#garbageBytes > GARBAGE_BYTES) setImmediate(() => this.collect());
  }

  /** Frees dropped instances now; memory outside the script heap starts no collection itself. */
  collect(): void {
    if (this.#garbageBytes === 0) return;
    this.#garbageBytes = 0;
    globalThis.gc?.();
    // The first collection finds the instances; their memory goes with the one after it.
    setTimeout(() => globalThis.gc?.(), SECOND_LOOK_MS).unref();
  }
}

/** One WebAssembly instance: its C functions and the bounds of its memory. */
export interface Instance {
  readonly module: QuickJSEmscriptenModule;
  readonly ffi: QuickJSFFI;
  /** Where it tells of rejected promises; `undefined` when the binary does not allow it. */
  readonly rejections: Rejections | undefined;
  /**
   * Bounds what the heap may grow to. The interpreter's own limit sees single allocations alone,
   * since in WebAssembly it does not know the size of a block that it frees.
   */
  limitHeap(bytes: number): void;
  /** Which bound has refused memory to this instance, if one has. */
  refused(): "own" | "process" | undefined;
  /** Gives the memory back to the budget; the instance must not be used again. */
  drop(): void;
}

/** Makes instances of one compiled module. */
export interface Engine {
  /** A new instance, or undefined when the heap bound of the process leaves no room. */
  instantiate(): Promise<Instance | undefined>;
}

/**
 * Compiles the interpreter once.
 * @param binary the WebAssembly file of the package's `release-sync` variant
 */
export async function loadEngine(
  binary: Uint8Array<ArrayBuffer>,
  budget: HeapBudget,
): Promise<Engine> {
  const adapted = adaptBinary(binary);
  const [compiled, imported, FFI] = await Promise.all([
    WebAssembly.compile(adapted.binary),
    RELEASE_SYNC.importModuleLoader(),
    RELEASE_SYNC.importFFI(),
  ]);
  const loader = loaderOf(imported);
  return {
    async instantiate() {
      const heap = new BoundedHeap(adapted.initialPages, budget);
      if (!heap.open) return undefined;
      const { memory } = heap;
      let rejections: Rejections | undefined;
      const module = await loader({
        wasmMemory: memory,
        instantiateWasm: (imports, onSuccess) => {
          const instance = new WebAssembly.Instance(compiled, heap.watched(imports));
          rejections = followRejections(instance.exports[TABLE_EXPORT]);
          onSuccess(instance);
          return instance.exports;
        },
      });
      return {
        module,
        rejections,
        ffi: new FFI(module),
        limitHeap: (bytes) => heap.limit(bytes),
        refused: () => heap.refused,
        drop: () => heap.drop(),
      };
    },
  };
}

/** A memory that asks two bounds before it grows: its own and the one of the process. */
class BoundedHeap {
  readonly memory: WebAssembly.Memory;
  /** Whether the process had room for it. */
  readonly open: boolean;
  refused: "own" | "process" | undefined;
  readonly #budget: HeapBudget;
  #denied: "own" | "process" | undefined;
  #heldBytes: number;
  #limitBytes = Number.POSITIVE_INFINITY;

  constructor(initial: number, budget: HeapBudget) {
    this.#budget = budget;
    this.#heldBytes = initial * PAGE_BYTES - STACK_BYTES;
    this.open = budget.take(this.#heldBytes);
    this.memory = new WebAssembly.Memory({ initial, maximum: MAX_PAGES });
    const grow = this.memory.grow.bind(this.memory);
    this.memory.grow = (pages) => {
      this.#reserve(pages * PAGE_BYTES);
      return grow(pages);
    };
  }

  limit(bytes: number): void {
    this.#limitBytes = bytes;
  }

  drop(): void {
    this.#budget.drop(this.#heldBytes);
    this.#heldBytes = 0;
  }

  /**
   * The imports of an instance, with an ear on the one that asks for memory. It tries several sizes
   * and answers `false`, as no other does, when it got none: the interpreter then is out of memory.
   */
  watched(imports: WebAssembly.Imports): WebAssembly.Imports {
    const hear = (value: WebAssembly.ImportValue): WebAssembly.ImportValue => {
      if (typeof value !== "function" || value.length !== 1) return value;
      return (argument: unknown) => {
        this.#denied = undefined;
        const answer: unknown = value(argument);
        if (answer === false) this.refused = this.#denied ?? "own";
        return answer;
      };
    };
    const heard = (names: WebAssembly.ModuleImports) =>
      Object.fromEntries(Object.entries(names).map(([name, value]) => [name, hear(value)]));
    return Object.fromEntries(Object.entries(imports).map(([name, of]) => [name, heard(of)]));
  }

  /** Throws where the memory's own `grow` would. */
  #reserve(bytes: number): void {
    if (this.#heldBytes + bytes > this.#limitBytes) this.#denied = "own";
    else if (this.#budget.take(bytes)) return void (this.#heldBytes += bytes);
    else this.#denied = "process";
    throw new RangeError("This memory must not grow.");
  }
}

type Loader = EmscriptenModuleLoader<QuickJSEmscriptenModule>;
type Imported = Awaited<ReturnType<typeof RELEASE_SYNC.importModuleLoader>>;

function loaderOf(imported: Imported): Loader {
  if (typeof imported === "function") return imported;
  const inner = imported.default;
  return typeof inner === "function" ? inner : inner.default;
}
