import { identifier } from "./identifier.ts";

const CONNECTOR_ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** What programs find under these names must not become a connector. */
const RESERVED_GLOBALS = new Set(
  (
    "connecta console globalThis undefined NaN Infinity eval arguments isNaN isFinite parseFloat " +
    "parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape Object " +
    "Function Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError " +
    "URIError InternalError Iterator Array String Number Boolean Symbol BigInt Math Date RegExp " +
    "JSON Proxy Reflect Map Set WeakMap WeakSet WeakRef FinalizationRegistry Promise ArrayBuffer " +
    "SharedArrayBuffer DataView Atomics Intl WebAssembly Uint8ClampedArray Int8Array Uint8Array " +
    "Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array " +
    "Float32Array Float64Array"
  ).split(" "),
);

/** Whether a connector may be called so: a letter, then up to 63 letters, digits, `_` or `-`. */
export function isConnectorId(id: unknown): boolean {
  return typeof id === "string" && CONNECTOR_ID.test(id);
}

/** Whether programs have something of their own under a connector's global. */
export function isReserved(id: string): boolean {
  return RESERVED_GLOBALS.has(identifier(id));
}
