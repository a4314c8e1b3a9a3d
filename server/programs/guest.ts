import type { Position } from "./position.ts";
import type { Surroundings } from "./surroundings.ts";

/** What the host tells the prelude before the program runs. */
export interface GuestConfig {
  /** Shortcut globals: `[identifier, connectorId]` each. */
  readonly shortcuts: readonly (readonly [string, string])[];
  /** Characters of one bridge argument beyond which only its size is sent. */
  readonly maxArgumentChars: number;
  /** Characters of the returned JSON beyond which only a preview is sent. */
  readonly maxReturnChars: number;
  /** Milliseconds after which a run ends itself, where the sandbox has timers. */
  readonly timeoutMs: number;
}

/** The raw bridge: JSON text in, a reply out (see reply.ts), never rejecting for a failure. */
export type RawBridge = Record<string, (json: string) => Promise<string | Head>>;

type Head =
  | { ok: true; value: unknown }
  | { ok: false; id: number; failure: Record<string, unknown> };

/** A text that came with a head, and where in its value belongs what it stands for. */
type Text = { at: number; chars: number; text: string };

/**
 * Runs inside the sandbox before the program: builds the program's API over the raw bridge and
 * returns the runner that the program is given to. The runner resolves to the JSON text of a
 * `GuestOutcome` (see outcome.ts). Everything it relies on is captured here, before guest code
 * can change a built-in. Texts are joined with `+`: `toJSON` of a changed prototype reaches objects
 * but not strings, and the interpreter joins template literals through `concat`, which can change.
 */
export default function guest(
  { bridge, foreign: outside }: Surroundings,
  position: Position,
  config: GuestConfig,
): (marker: Error, make: () => () => unknown) => Promise<string> {
  const { stringify, parse } = JSON;
  const { isFinite } = Number;
  const { isView } = ArrayBuffer;
  const { isArray } = Array;
  const { for: forName } = Symbol;
  const { create, defineProperty, freeze, getPrototypeOf, prototype: objectPrototype } = Object;
  const { apply } = Reflect;
  const arrayPrototype = Array.prototype as unknown;
  const toTag = objectPrototype.toString;
  const ErrorClass = Error;
  const PromiseClass = Promise;
  const { then } = PromiseClass.prototype;
  const toText = String;
  const WeakMapClass = WeakMap;
  const internalError = (globalThis as { InternalError?: ErrorConstructor }).InternalError;
  const internalPrototype: unknown = internalError?.prototype;
  if (internalError) {
    delete (globalThis as { InternalError?: unknown }).InternalError;
    delete (internalError.prototype as { constructor?: unknown }).constructor;
  }
  const weakGet = WeakMapClass.prototype.get;
  const weakSet = WeakMapClass.prototype.set;
  const slice = toText.prototype.slice;

  /** JSON members, complete with quotes, that describe a failure this side raised or was handed. */
  const known = new WeakMapClass<object, string>();

  function remember(error: Error, members: string): Error {
    apply(weakSet, known, [error, members]);
    return error;
  }

  /** The host keeps less of a text that a program made, and some sandboxes hand on only so much. */
  const cut = (text: string): string => apply(slice, text, [0, 4_096]);

  function unserializable(longPath: string, what: string): Error {
    const path = cut(longPath);
    const error = new ErrorClass(path + " is " + what + ": only JSON crosses the bridge");
    const fields = { code: "not_serializable", retryable: false, path };
    for (const name in fields) {
      const value = fields[name as keyof typeof fields];
      defineProperty(error, name, { value, enumerable: true });
    }
    const text =
      '"code":"not_serializable","path":' +
      stringify(path) +
      ',"message":' +
      stringify(error.message);
    return remember(error, text);
  }

  /** Built-in objects that JSON would turn into something empty without a word. */
  const lost = create(null) as Record<string, string | undefined>;
  lost["[object Promise]"] = "a Promise (await it)";
  lost["[object Map]"] = "a Map (use Object.fromEntries)";
  lost["[object Set]"] = "a Set (use an array)";
  lost["[object Error]"] = "an Error (use its message)";
  lost["[object RegExp]"] = "a regular expression";
  lost["[object BigInt]"] = "a BigInt";
  lost["[object Symbol]"] = "a symbol";
  lost["[object WeakMap]"] =
    lost["[object WeakSet]"] =
    lost["[object WeakRef]"] =
      "a weak reference";
  lost["[object ArrayBuffer]"] = lost["[object SharedArrayBuffer]"] = "an ArrayBuffer";
  lost["[object DataView]"] = "a DataView";
  lost["[object Generator]"] = lost["[object AsyncGenerator]"] = "a generator";

  /** What keeps a value out of JSON, or nothing. */
  function foreign(value: unknown): string | undefined {
    if (typeof value === "bigint") return "a BigInt";
    if (typeof value === "function") return "a function";
    if (typeof value === "symbol") return "a symbol";
    if (typeof value === "number") return isFinite(value) ? undefined : "not a finite number";
    if (typeof value !== "object" || value === null) return undefined;
    const prototype: unknown = getPrototypeOf(value);
    if (prototype === objectPrototype || prototype === arrayPrototype || prototype === null) {
      return undefined;
    }
    if (isView(value)) return "a typed array";
    return lost[apply(toTag, value, []) as string];
  }

  /** JSON text of a value; throws a typed error that names the path of what has no JSON form. */
  function encode(value: unknown, root: string): string {
    if (value === undefined) return "null";
    const holders: unknown[] = [];
    const keys: string[] = [];
    let depth = 0;
    const path = (holder: unknown, key: string): string => {
      let text = root;
      for (let i = 1; i < depth; i++) text += step(holders[i - 1], keys[i] ?? "");
      return depth === 0 ? text : text + step(holder, key);
    };
    const step = (holder: unknown, key: string): string =>
      isArray(holder) ? "[" + key + "]" : "." + key;
    const text = stringify(value, function (this: unknown, key: string, item: unknown) {
      while (depth > 0 && holders[depth - 1] !== this) depth--;
      const problem = foreign(item);
      if (problem !== undefined) throw unserializable(path(this, key), problem);
      if (typeof item === "object" && item !== null) {
        for (let i = 0; i < depth; i++) {
          if (holders[i] === item) throw unserializable(path(this, key), "part of a cycle");
        }
        defineProperty(holders, depth, { value: item, writable: true, configurable: true });
        defineProperty(keys, depth, { value: key, writable: true, configurable: true });
        depth++;
      }
      return item;
    });
    return text === undefined ? "null" : text;
  }

  /** Throws what the host refused, as an Error with the host's own fields. */
  function rethrow(reply: { id: number; failure: Record<string, unknown> }): never {
    const error = new ErrorClass(toText(reply.failure.message));
    for (const name in reply.failure) {
      if (name === "message") continue;
      defineProperty(error, name, { value: reply.failure[name], enumerable: true });
    }
    throw remember(error, '"id":' + stringify(reply.id));
  }

  function isInternal(thrown: unknown): boolean {
    if (typeof thrown !== "object" || thrown === null) return false;
    try {
      return getPrototypeOf(thrown) === internalPrototype;
    } catch {
      return false; // A proxy that refuses to say.
    }
  }

  const none: Text[] = [];

  /** Reads a reply and cuts its texts out, so that the whole can go before they are parsed. */
  function open(reply: string): { head: Head; texts: Text[] } {
    if (reply[0] !== "~") return { head: parse(reply) as Head, texts: none };
    let from = 9 + +apply(slice, reply, [1, 9]);
    const head = parse(apply(slice, reply, [9, from])) as {
      ok: true;
      value: unknown;
      texts: Text[];
    };
    for (let i = 0; i < head.texts.length; i++) {
      const text = head.texts[i] as Text;
      text.text = apply(slice, reply, [from, (from += text.chars)]);
    }
    return { head, texts: head.texts };
  }

  /** The value that a text is the JSON of, else the text. */
  function meaning(text: string): unknown {
    try {
      return parse(text);
    } catch (thrown) {
      if (isInternal(thrown)) throw thrown;
      return text;
    }
  }

  /** What a reply says, with its texts in their places; runs nothing of the program. */
  function decode(reply: string): Head {
    const { head, texts } = open(reply);
    if (!head.ok) return head;
    for (let i = 0; i < texts.length; i++) {
      const { at, text } = texts[i] as Text;
      if (at < 0) head.value = meaning(text);
      else (head.value as { data: unknown }[])[at]!.data = meaning(text);
    }
    return head;
  }

  // An executor that reads replies for us does not charge the program for it.
  const reader = forName("sandbox.decode");
  const lend = (bridge as Record<symbol, unknown>)[reader];
  if (typeof lend === "function") (lend as (read: typeof decode) => void)(decode);
  delete (bridge as Record<symbol, unknown>)[reader];

  let end = () => {};

  function caller(name: string): (json: string) => Promise<unknown> {
    const send = bridge[name] as (json: string) => Promise<string | Head>;
    return async (json) => {
      const reply = await send(json);
      const head = typeof reply === "string" ? decode(reply) : reply;
      if (head.ok) return head.value;
      if (head.id > 0) return rethrow(head);
      // The run is over, and whatever the program did next would be for nobody.
      end();
      return new PromiseClass<never>(() => {});
    };
  }

  const send = {
    search: caller("search"),
    describe: caller("describe"),
    call: caller("call"),
    batch: caller("batch"),
    shortcut: caller("shortcut"),
    emit: caller("emit"),
    ui: caller("ui"),
  };

  /** `[first,a,b,…]` as JSON text, whatever guest code did to arrays. */
  function list(
    values: readonly unknown[],
    names: readonly string[],
    first = "",
    what: unknown = values[0],
  ): string {
    let text = "[" + first;
    for (let i = 0; i < values.length; i++) {
      text += (text === "[" ? "" : ",") + encode(values[i], names[i] ?? "argument " + (i + 1));
    }
    if (text.length <= config.maxArgumentChars) return text + "]";
    const subject = typeof what === "string" ? apply(slice, what, [0, 128]) : null;
    return '{"chars":' + text.length + ',"subject":' + stringify(subject) + "}";
  }

  // With `await`: an async function that returns a promise asks it for its `then` of the moment.
  const api: Record<string, (...args: unknown[]) => Promise<unknown>> = {
    search: async (...args) => await send.search(list(args, ["options"])),
    describe: async (...args) => await send.describe(list(args, ["options"])),
    call: async (...args) => await send.call(list(args, ["address", "args"])),
    batch: async (...args) => await send.batch(list(args, ["calls"])),
    emit: async (...args) => void (await send.emit(list(args, ["block"]))),
    ui: async (...args) => void (await send.ui(list(args, ["html", "options"]))),
  };
  for (const name in bridge) if (!(name in api)) delete bridge[name];
  for (const name in api) {
    defineProperty(bridge, name, { value: api[name], enumerable: true, writable: false });
  }
  freeze(bridge);

  for (const [identifier, id] of config.shortcuts) {
    const get = (_: object, property: string | symbol) => {
      // Promises and JSON ask every object for these two; such a tool has its address.
      if (typeof property !== "string" || property === "then" || property === "toJSON") {
        return undefined;
      }
      const first = stringify(id) + "," + stringify(property);
      return async (...args: unknown[]) => await send.shortcut(list(args, ["args"], first, id));
    };
    const value = new Proxy(freeze({}), { get });
    defineProperty(globalThis, identifier, { value, enumerable: true, configurable: true });
  }

  const print = console.log;
  const format = (value: unknown): string => {
    if (typeof value === "string") return value;
    if (value === undefined) return "undefined";
    if (value instanceof ErrorClass) return value.name + ": " + value.message;
    try {
      return encode(value, "value");
    } catch {
      try {
        return toText(value);
      } catch {
        return "[unprintable]";
      }
    }
  };
  const printer =
    (prefix: string) =>
    (...args: unknown[]): void => {
      let line = prefix;
      for (let i = 0; i < args.length; i++) line += (i > 0 ? " " : "") + format(args[i]);
      print(line);
    };
  const levels = { log: "", info: "", warn: "[warn] ", error: "[error] ", debug: "[debug] " };
  for (const level in levels) {
    const value = printer(levels[level as keyof typeof levels]);
    defineProperty(console, level, { value, writable: true, configurable: true });
  }

  /** A sandbox of our own tells of these by itself. */
  function tellRejected(reasons: readonly unknown[]): void {
    for (let i = 0; i < reasons.length; i++) print("[unhandled] " + format(reasons[i]));
  }

  /** Members that describe what the program threw. */
  function describe(thrown: unknown, marker: Error): string {
    if (typeof thrown !== "object" || thrown === null) {
      return '"code":"program_error","message":' + stringify(cut("Threw " + format(thrown)));
    }
    const members = apply(weakGet, known, [thrown]) as string | undefined;
    if (members !== undefined) return members;
    if (!(thrown instanceof ErrorClass)) {
      return '"code":"program_error","message":' + stringify(cut("Threw " + format(thrown)));
    }
    const message = stringify(cut(toText(thrown.name) + ": " + toText(thrown.message)));
    return '"code":"program_error","message":' + message + position(thrown, marker);
  }

  function succeed(value: unknown): string {
    const result = encode(value, "result");
    if (result.length <= config.maxReturnChars) return '{"ok":true,"value":' + result + "}";
    const preview = stringify(apply(slice, result, [0, config.maxReturnChars]));
    return '{"ok":true,"preview":' + preview + ',"totalChars":' + result.length + "}";
  }

  function report(thrown: unknown, marker: Error): string {
    try {
      return '{"ok":false,' + describe(thrown, marker) + "}";
    } catch {
      return '{"ok":false,"code":"program_error","message":"Threw a value that cannot be read"}';
    }
  }

  // The interpreter's own `then`, not `await`: a changed Promise.prototype must not answer for it.
  return (marker, make) => {
    delete (globalThis as { $connecta?: unknown }).$connecta;
    return new PromiseClass((resolve, reject) => {
      let finish: (text: string) => void;
      const failed = (thrown: unknown) => {
        // The sandbox itself tells its limits.
        if (internalPrototype !== undefined && isInternal(thrown)) reject(thrown);
        else finish(report(thrown, marker));
      };
      const done = (value: unknown) => {
        try {
          finish(succeed(value));
        } catch (thrown) {
          failed(thrown);
        }
      };
      const start = () => {
        try {
          const program = make();
          const value = program();
          try {
            apply(then, value, [done, failed]);
          } catch (thrown) {
            // Not a promise of the language, but a plain value; or the program changed what one is.
            if (apply(toTag, value, []) === "[object Promise]") failed(thrown);
            else done(value);
          }
        } catch (thrown) {
          failed(thrown);
        }
      };
      if (outside === undefined) {
        finish = resolve;
        return start();
      }
      const leave = (text: string) => void (outside.seal() && resolve(text));
      finish = (text) => outside.settle(() => (tellRejected(outside.rejected()), leave(text)));
      end = () => leave('{"ok":false,"ended":true}');
      outside.after(config.timeoutMs, end);
      outside.begin(start);
    });
  };
}
