/**
 * Functions that the interpreter lends to {@link guest}; guest code never sees them. Each takes a
 * text and its length last, because bytes alone do not tell where a text with a NUL ends.
 */
export interface GuestHost {
  /** Starts a host call; `true` asks for the text as JSON, a string says why it is refused. */
  call(
    index: number,
    id: number,
    json: boolean,
    text: string,
    length: number,
  ): true | string | undefined;
  /** Keeps one console line; `true` asks for it as JSON. */
  log(json: boolean, text: string, length: number): true | undefined;
  /** Ends the run with its value: 0 nothing, 1 JSON, 2 text; `true` asks for it as JSON. */
  done(kind: number, text: string, length: number): true | undefined;
  /** Ends the run with what the program threw. */
  failed(overflow: boolean, json: boolean, text: string, length: number): true | undefined;
  /** Ends the run with why its code does not compile: JSON of message, line and column. */
  invalid(json: string, length: number): void;
  /** Whether a value is a promise, which nothing in the guest can lie about. */
  isPromise(value: unknown): true | undefined;
}

/** What the interpreter calls in the guest; an array, because it is read by position. */
export type GuestControl = [
  install: (providers: string) => void,
  seal: () => boolean,
  run: (program: unknown, a: number, b: number, c: number, d: number) => boolean,
  take: (id: number, kind: number, text: string) => void,
  settle: (id: number) => void,
  fail: (error: unknown) => void,
  invalid: (error: unknown) => boolean,
  unhandled: (reason: unknown) => void,
];

/** Reads what a host function answered, before anything of the program sees it. */
type Decode = (text: string) => unknown;

/**
 * The guest's side of the bridge. Everything it uses is taken before any program runs, and nothing
 * it does afterwards looks up a property that a program can change; that excludes template
 * literals, which this interpreter joins with the `concat` of the moment.
 */
export default function guest(
  call: GuestHost["call"],
  log: GuestHost["log"],
  done: GuestHost["done"],
  failed: GuestHost["failed"],
  invalid: GuestHost["invalid"],
  isPromise: GuestHost["isPromise"],
  logCharacters: number,
): GuestControl {
  const { parse, stringify } = JSON;
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf } =
    Reflect;
  const { create, freeze } = Object;
  const { species, hasInstance } = Symbol;
  const ordinaryHasInstance: unknown = Reflect.get(Function.prototype, hasInstance);
  const syntaxPrototype = SyntaxError.prototype;
  const PromiseOf = Promise;
  // Without a prototype: a program may give all objects a `get`, which a descriptor would inherit.
  const ordinary = freeze({ __proto__: null, value: PromiseOf });
  const { then } = Promise.prototype;
  const ErrorOf = Error;
  const text = String;
  const { slice } = String.prototype;
  const internal = Reflect.get(globalThis, "InternalError") as { prototype: object };
  const internalPrototype = internal.prototype;
  const waiting = create(null) as Record<
    number,
    {
      decode: Decode | undefined;
      resolve: (value: unknown) => void;
      reject: (error: unknown) => void;
    }
  >;
  /** What preludes gave for their providers, by the place of a function. */
  const decoders = create(null) as Record<number, Decode>;
  const decoder = Symbol.for("sandbox.decode");
  let calls = 0;
  let room = logCharacters;
  let taken: unknown;
  let takenError = false;
  let sealed = false;

  const start = (index: number, args: unknown[]) =>
    new PromiseOf((resolve, reject) => {
      const id = ++calls;
      const only = args[0];
      let answer: true | string | undefined = true;
      if (args.length === 1 && typeof only === "string") {
        answer = call(index, id, false, only, only.length);
      }
      if (answer === true) {
        const json = stringify(args);
        answer = call(index, id, true, json, json.length);
      }
      if (answer === undefined) waiting[id] = { decode: decoders[index], resolve, reject };
      else reject(new ErrorOf(answer === true ? "The arguments cannot be sent." : answer));
    });

  const read = (decode: Decode, value: string) => {
    try {
      taken = decode(value);
    } catch (error) {
      takenError = true;
      taken = error;
    }
  };

  const print = (args: unknown[]) => {
    if (room <= 0) return;
    let line = "";
    for (let i = 0; i < args.length && line.length <= room; i++) {
      let part = "[value without text]";
      try {
        part = text(args[i]);
      } catch {}
      line += i === 0 ? part : " " + part;
    }
    line = apply(slice, line, [0, room]) as string;
    room -= line.length + 1;
    if (log(false, line, line.length) !== true) return;
    const json = stringify(line);
    log(true, json, json.length);
  };

  const describe = (error: unknown) => {
    try {
      if (typeof error !== "object" || error === null) return text(error);
      const { name, message } = error as { name?: unknown; message?: unknown };
      if (message === undefined) return text(error);
      return (name === undefined ? "Error" : text(name)) + ": " + text(message);
    } catch {
      return "Error: the program threw a value that has no text";
    }
  };

  const own = (error: object, name: string) =>
    getOwnPropertyDescriptor(error, name)?.value as unknown;

  // Nothing outside sees an overflow. A program that caught any InternalError can dress another
  // error as one, and so end itself under that name; memory is judged by the host alone.
  const isOverflow = (error: unknown) => {
    try {
      if (typeof error !== "object" || error === null) return false;
      if (getPrototypeOf(error) !== internalPrototype) return false;
      return own(error, "message") === "stack overflow";
    } catch {
      return false;
    }
  };

  const fail = (error: unknown) => {
    const overflow = isOverflow(error);
    const line = apply(slice, describe(error), [0, 16_000]) as string;
    if (failed(overflow, false, line, line.length) !== true) return;
    const json = stringify(line);
    failed(overflow, true, json, json.length);
  };

  /** Only asked about code that did not compile, when nothing of the program has run yet. */
  const refuse = (error: unknown) => {
    if (typeof error !== "object" || error === null) return false;
    if (getPrototypeOf(error) !== syntaxPrototype) return false;
    const parts = [own(error, "message"), own(error, "lineNumber"), own(error, "columnNumber")];
    const json = stringify(parts);
    invalid(json, json.length);
    return true;
  };

  const complete = (value: unknown) => {
    if (typeof value === "string" && done(2, value, value.length) !== true) return;
    const json = stringify(value) as string | undefined;
    if (json === undefined) done(0, "", 0);
    else done(1, json, json.length);
  };

  const finish = (value: unknown) => {
    try {
      complete(value);
    } catch (error) {
      fail(error);
    }
  };

  /** Follows the program's promise with the interpreter's own `then`, whatever became of it. */
  const follow = (program: () => unknown) => {
    try {
      const value = program();
      let promise = value;
      // `then` asks a promise for its constructor: the program's own answer must not come first.
      if (isPromise(value) === true) defineProperty(value as object, "constructor", ordinary);
      else promise = new PromiseOf((resolve) => resolve(value));
      apply(then, promise as Promise<unknown>, [finish, fail]);
    } catch (error) {
      fail(error);
    }
  };

  const method = (index: number) =>
    ({
      call: (...args: unknown[]) => start(index, args),
    }).call;

  const fixed = (target: object, name: string, value: unknown) =>
    defineProperty(target, name, { value, enumerable: true });

  const open = (target: object, name: string, value: unknown) =>
    defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });

  const installed: object[] = [];
  const resizing = ["resize", "transfer", "transferToFixedLength"];

  const install = (providers: string) => {
    let index = 0;
    for (const { name, functions } of parse(providers) as {
      name: string;
      functions: string[];
    }[]) {
      const provider = create(null) as object;
      const first = index;
      // A prelude may replace them: it is part of the deployment.
      for (const key of functions) open(provider, key, method(index++));
      const end = index;
      const value = (decode: Decode) => {
        const last = sealed ? first : end;
        for (let at = first; at < last; at++) decoders[at] = decode;
      };
      defineProperty(provider, decoder, { value, configurable: true });
      fixed(globalThis, name, provider);
      installed[installed.length] = provider;
    }
  };

  const state = { a: 0, b: 0, c: 0, d: 1 };
  const seeded = {
    /** Every run starts from the same memory, so the interpreter's own generator would repeat. */
    random() {
      const t = (((state.a + state.b) | 0) + state.d) | 0;
      state.d = (state.d + 1) | 0;
      state.a = state.b ^ (state.b >>> 9);
      state.b = (state.c + (state.c << 3)) | 0;
      state.c = (((state.c << 21) | (state.c >>> 11)) + t) | 0;
      return (t >>> 0) / 4294967296;
    },
  };

  const seal = () => {
    sealed = true;
    for (let i = 0; i < installed.length; i++) freeze(installed[i]);
    deleteProperty(globalThis, "InternalError");
    deleteProperty(globalThis, "SharedArrayBuffer");
    // A typed array that is made while its buffer shrinks reaches beyond it in this interpreter.
    for (let i = 0; i < resizing.length; i++) {
      deleteProperty(ArrayBuffer.prototype, resizing[i] as string);
    }
    defineProperty(internalPrototype, "constructor", { value: ErrorOf, writable: false });
    // What decides whether a value is a promise or an error is no program's to change.
    const constant = { writable: false, configurable: false };
    defineProperty(PromiseOf, species, { configurable: false });
    defineProperty(PromiseOf.prototype, "constructor", { value: PromiseOf, ...constant });
    defineProperty(PromiseOf, hasInstance, { value: ordinaryHasInstance, ...constant });
    defineProperty(ErrorOf, hasInstance, { value: ordinaryHasInstance, ...constant });
    for (const _ in decoders) return true;
    return false;
  };

  const hidden = (target: object, name: string, value: unknown) =>
    defineProperty(target, name, { value, writable: true, configurable: true });
  const write = (...args: unknown[]) => print(args);
  hidden(Math, "random", seeded.random);
  hidden(globalThis, "console", {
    log: write,
    info: write,
    warn: write,
    error: write,
    debug: write,
  });

  return [
    install,
    seal,
    (program, a, b, c, d) => {
      if (typeof program !== "function") return false;
      state.a = a;
      state.b = b;
      state.c = c;
      state.d = d;
      follow(program as () => unknown);
      return true;
    },
    (id, kind, value) => {
      takenError = kind === 3;
      const decode = kind === 2 ? waiting[id]?.decode : undefined;
      if (decode !== undefined) read(decode, value);
      else taken = kind === 0 ? undefined : kind === 1 ? parse(value) : value;
    },
    (id) => {
      const promise = waiting[id];
      const value = taken;
      taken = undefined;
      if (promise === undefined) return;
      delete waiting[id];
      if (takenError) promise.reject(typeof value === "string" ? new ErrorOf(value) : value);
      else promise.resolve(value);
    },
    fail,
    refuse,
    (reason) => print(["[unhandled] " + describe(reason)]),
  ];
}
