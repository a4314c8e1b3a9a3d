/** Told of a promise that is rejected without a handler, and again when it gets one after all. */
export type RejectionListener = (promise: bigint, reason: bigint, handled: boolean) => void;

/** The place where an instance tells of rejections; whoever owns the instance sets the listener. */
export interface Rejections {
  listener: RejectionListener | undefined;
  /** Index of the function that the interpreter must call, in its table. */
  readonly index: number;
}

/**
 * `(import "h" "r" (func (param i32 i64 i64 i32 i32))) (export "r" (func 0))`: the one way to give
 * a JavaScript function the type that the interpreter calls. A value is an i64, here a bigint.
 */
const ADAPTER = [
  "0061736d01000000", // preamble
  "01090160057f7e7e7f7f00", // types
  "020701016801720000", // imports
  "07050101720000", // exports
];
let compiled: WebAssembly.Module | undefined;

function adapter(): WebAssembly.Module {
  return (compiled ??= new WebAssembly.Module(Buffer.from(ADAPTER.join(""), "hex")));
}

/** Puts a function for rejections into an instance's table; `undefined` for what is no table. */
export function followRejections(table: unknown): Rejections | undefined {
  if (!(table instanceof WebAssembly.Table)) return undefined;
  const rejections: Rejections = { listener: undefined, index: table.length };
  const told = (_: number, promise: bigint, reason: bigint, handled: number): void =>
    rejections.listener?.(promise, reason, handled !== 0);
  table.grow(1, new WebAssembly.Instance(adapter(), { h: { r: told } }).exports.r);
  return rejections;
}

/**
 * Makes a runtime call {@link followRejections}' function. The package has no function for it, but
 * one for the interrupt handler, whose field in the runtime comes two before.
 * @param enable sets the interrupt handler
 */
export function trackRejections(
  rejections: Rejections | undefined,
  words: () => Uint32Array,
  enable: () => void,
): void {
  const before = words().slice();
  enable();
  const after = words();
  const field = after.findIndex((word, at) => word !== before[at]) + 2;
  if (rejections === undefined || field < 2 || field + 1 >= after.length) return;
  if (after[field] === 0 && after[field + 1] === 0) after[field] = rejections.index;
}
