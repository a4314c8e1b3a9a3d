import {
  RELEASE_SYNC,
  type EmscriptenModuleLoader,
  type QuickJSEmscriptenModule,
} from "quickjs-emscripten";

/** The C functions of one instance, as the package types them. */
export type QuickJSFFI = InstanceType<Awaited<ReturnType<typeof RELEASE_SYNC.importFFI>>>;

const PAGE_BYTES = 64 * 1024;

/** Pages that the binary asks for, and the pages that hold its data, its C stack and a context. */
const DECLARED_PAGES = 256;
const NEEDED_PAGES = 88;

/** The largest memory that the binary accepts. */
const MAX_PAGES = 32_768;

/** Bytes of every instance that are C stack, untouched but for a few pages. */
export const STACK_BYTES = 5 * 1024 * 1024;

/** Dropped memory is only garbage; above this the collector is asked to look at once. */
const GARBAGE_BYTES = 32 * 1024 * 1024;

const SECOND_LOOK_MS = 100;

/** Memory of all instances of this process, live or prepared. */
export class HeapBudget {
  readonly #maxBytes: number;
  #usedBytes = 0;
  #garbageBytes = 0;

  /** @param maxBytes what all instances together may hold */
  constructor(maxBytes: number) {
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
  const lowered = lowerMemoryFloor(binary);
  const [compiled, imported, FFI] = await Promise.all([
    WebAssembly.compile(lowered ?? binary),
    RELEASE_SYNC.importModuleLoader(),
    RELEASE_SYNC.importFFI(),
  ]);
  const loader = loaderOf(imported);
  const initial = lowered ? NEEDED_PAGES : DECLARED_PAGES;
  return {
    async instantiate() {
      const heap = new BoundedHeap(initial, budget);
      if (!heap.open) return undefined;
      const { memory } = heap;
      const module = await loader({
        wasmMemory: memory,
        instantiateWasm: (imports, onSuccess) => {
          const instance = new WebAssembly.Instance(compiled, heap.watched(imports));
          onSuccess(instance);
          return instance.exports;
        },
      });
      return {
        module,
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

/**
 * Lowers the memory minimum that the binary's import declares, so that an instance holds what it
 * uses and every growth is seen. Undefined when the import does not look as expected.
 */
function lowerMemoryFloor(binary: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  // Import "a"."a": memory with a maximum, minimum 256 pages as a two-byte LEB128.
  const declared = [0x01, 0x61, 0x01, 0x61, 0x02, 0x01, 0x80, 0x02];
  const importSection = binary.subarray(0, 4096);
  const at = importSection.findIndex((_, i) =>
    declared.every((byte, offset) => importSection[i + offset] === byte),
  );
  if (at < 0) return undefined;
  const lowered = new Uint8Array(binary);
  lowered[at + 6] = NEEDED_PAGES | 0x80;
  lowered[at + 7] = 0;
  return lowered;
}
