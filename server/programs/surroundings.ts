import type { Send } from "./direct.ts";
import type { UnderWay } from "./flood.ts";
import type { RawBridge } from "./guest.ts";

/** What the prelude is given: the raw bridge, and more where the sandbox is not of our own making. */
export interface Surroundings {
  readonly bridge: RawBridge;
  readonly foreign?: {
    /** Takes out what the sandbox has beyond the language, then starts the program. */
    begin(start: () => void): void;
    /** Calls back after some milliseconds. */
    after(ms: number, callback: () => void): void;
    /** Calls back when the host has got every call and the engine has told of every rejection. */
    settle(callback: () => void): void;
    /** Keeps the program out of its own answer; false when it is in there for good. */
    seal(): boolean;
    /** Why promises were rejected that nobody handled. */
    rejected(): unknown[];
  };
}

/**
 * Runs inside the sandbox before the program's API is made. A sandbox without timers is our own and has
 * nothing to hide. Any other is a whole runtime: its bridge is copied to a plain global object, its
 * console cut down, and what no program may reach is removed when the program starts, not before:
 * the executor's own code still needs a timer once it has called the program.
 * @param direct a way to the host past the executor's own code, where there is one
 * @param most what may be under way at once: nobody else bounds it here
 * @param logs the executor's own list of printed lines, where it has that in scope
 */
export default function surroundings(
  bridge: RawBridge,
  direct: Send | undefined,
  most: UnderWay,
  logs: string[] | undefined,
): Surroundings {
  const outside = globalThis as {
    setTimeout?: typeof setTimeout;
    setImmediate?: (callback: () => void) => unknown;
    addEventListener?: (type: string, listener: (event: PromiseRejectionEvent) => void) => void;
  };
  const { setTimeout: timer, setImmediate: turn, addEventListener: listen } = outside;
  if (typeof timer !== "function") return { bridge };
  const language =
    "globalThis Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI " +
    "decodeURIComponent encodeURI encodeURIComponent escape unescape AggregateError Array " +
    "ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError " +
    "FinalizationRegistry Float16Array Float32Array Float64Array Function Int8Array Int16Array " +
    "Int32Array Intl Iterator JSON Map Math Number Object Promise Proxy RangeError ReferenceError " +
    "Reflect RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError Uint8Array " +
    "Uint8ClampedArray Uint16Array Uint32Array WeakMap WeakRef WeakSet DisposableStack " +
    "AsyncDisposableStack console connecta";
  const kept = new Set(language.split(" "));
  const { defineProperty, getOwnPropertyNames, prototype, setPrototypeOf } = Object;
  const { hasOwnProperty } = prototype;
  const sealed = Object.freeze({ __proto__: null, value: undefined });
  const { apply } = Reflect;
  const strange = getOwnPropertyNames(globalThis).filter((name) => !kept.has(name));
  const settled = Promise.resolve();
  const { then } = Promise.prototype;

  const lost = new Map<unknown, unknown>();
  const mapSet = Map.prototype.set;
  const mapDelete = Map.prototype.delete;
  const mapValues = Map.prototype.values;
  const next = lost.values().next;
  const maxRejections = 64;
  listen?.("unhandledrejection", ({ promise, reason }) => {
    if (lost.size < maxRejections) apply(mapSet, lost, [promise, reason]);
  });
  listen?.("rejectionhandled", ({ promise }) => apply(mapDelete, lost, [promise]));

  let calls = 0;
  let chars = 0;
  let asked = 0;
  let isOver = false;
  const PromiseClass = Promise;
  const never = new PromiseClass<never>(() => {});
  const own: RawBridge = {};
  const indirect: Send = (name, json, ended) => {
    const answer = (bridge[name] as RawBridge[string])(json) as Promise<string>;
    apply(then, answer, [ended, ended]);
    return answer;
  };
  const send = direct ?? indirect;
  // The counts must not follow what a program makes of promises.
  const counted = (name: string) => (json: string) => {
    if (isOver) return never;
    const { length } = json;
    const isLarge = chars + length > most.chars;
    if (isLarge || calls >= most.calls) {
      isOver = true;
      return send("arrive", "[" + (isLarge ? chars + length : 0) + "]", () => {});
    }
    calls++;
    chars += length;
    const ended = () => {
      calls--;
      chars -= length;
    };
    if (asked++ < most.calls) return send(name, json, ended);
    // Refusals that come at once would leave no turn to any timer, be it of this run or of another.
    return new PromiseClass<string>((resolve) => {
      apply(timer, undefined, [() => resolve(send(name, json, ended)), calls]);
    });
  };
  for (const name of ["search", "describe", "call", "batch", "shortcut", "emit", "ui"]) {
    own[name] = counted(name);
  }
  // The host keeps fewer characters; what is printed beyond would only travel.
  let room = 65_536;
  const push = console.log;
  const print = (line: string) => {
    if (room <= 0) return;
    const text = apply(slice, line, [0, room]);
    room -= text.length;
    if (logs === undefined) push(text);
    else defineProperty(logs, logs.length, lineOf(text));
  };
  const lineOf = (value: string) => ({ __proto__: null, value, enumerable: true });
  const slice = String.prototype.slice;
  const hidden = { writable: true, configurable: true };
  defineProperty(globalThis, "connecta", { value: own, enumerable: true });
  defineProperty(globalThis, "console", { value: { log: print }, ...hidden });
  const strip = () => {
    for (let i = 0; i < strange.length; i++) {
      delete (globalThis as Record<string, unknown>)[strange[i] as string];
    }
    setPrototypeOf(globalThis, prototype);
  };
  return {
    bridge: own,
    foreign: {
      begin: (start) => void apply(then, settled, [() => (strip(), start())]),
      after: (ms, callback) => void apply(timer, undefined, [callback, ms]),
      settle(callback) {
        const rest = () => apply(turn ?? timer, undefined, [callback]);
        if (calls > 0) void send("arrive", "[]", rest);
        else rest();
      },
      seal() {
        isOver = true;
        // An answer is an object, and is asked for its `then` on the way out.
        try {
          defineProperty(prototype, "then", sealed);
          return true;
        } catch {
          return !apply(hasOwnProperty, prototype, ["then"]);
        }
      },
      rejected() {
        const reasons: unknown[] = [];
        const values = apply(mapValues, lost, []);
        for (let each = apply(next, values, []); !each.done; each = apply(next, values, [])) {
          defineProperty(reasons, reasons.length, { value: each.value, enumerable: true });
        }
        return reasons;
      },
    },
  };
}
