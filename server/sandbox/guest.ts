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
  /** Ends the run with what the program threw; the limit is 0 none, 1 memory, 2 stack. */
  failed(limit: number, json: boolean, text: string, length: number): true | undefined;
}

/** What the interpreter calls in the guest; an array, because it is read by position. */
export type GuestControl = [
  install: (providers: string) => void,
  seal: () => void,
  run: (program: unknown, a: number, b: number, c: number, d: number) => boolean,
  take: (kind: number, text: string) => void,
  settle: (id: number) => void,
  fail: (error: unknown) => void,
];

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
  logCharacters: number,
): GuestControl {
  const { parse, stringify } = JSON;
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf } =
    Reflect;
  const { create, freeze } = Object;
  const PromiseOf = Promise;
  const { then } = Promise.prototype;
  const ErrorOf = Error;
  const text = String;
  const { slice } = String.prototype;
  const internal = Reflect.get(globalThis, "InternalError") as { prototype: object };
  const internalPrototype = internal.prototype;
  const waiting = create(null) as Record<
    number,
    { resolve: (value: unknown) => void; reject: (error: unknown) => void }
  >;
  let calls = 0;
  let room = logCharacters;
  let taken: unknown;
  let takenError = false;

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
      if (answer === undefined) waiting[id] = { resolve, reject };
      else reject(new ErrorOf(answer === true ? "The arguments cannot be sent." : answer));
    });

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

  const limitOf = (error: unknown) => {
    try {
      if (typeof error !== "object" || error === null) return 0;
      if (getPrototypeOf(error) !== internalPrototype) return 0;
      const message = getOwnPropertyDescriptor(error, "message")?.value as unknown;
      if (message === "out of memory") return 1;
      return message === "stack overflow" ? 2 : 0;
    } catch {
      return 0;
    }
  };

  const fail = (error: unknown) => {
    const limit = limitOf(error);
    const line = apply(slice, describe(error), [0, 16_000]) as string;
    if (failed(limit, false, line, line.length) !== true) return;
    const json = stringify(line);
    failed(limit, true, json, json.length);
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
      const promise = program();
      const settled =
        promise instanceof PromiseOf ? promise : new PromiseOf((resolve) => resolve(promise));
      apply(then, settled, [finish, fail]);
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

  const install = (providers: string) => {
    let index = 0;
    for (const { name, functions } of parse(providers) as {
      name: string;
      functions: string[];
    }[]) {
      const provider = create(null) as object;
      // A prelude may replace them: it is part of the deployment.
      for (const key of functions) open(provider, key, method(index++));
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
    for (let i = 0; i < installed.length; i++) freeze(installed[i]);
    deleteProperty(globalThis, "InternalError");
    deleteProperty(globalThis, "SharedArrayBuffer");
    defineProperty(internalPrototype, "constructor", { value: ErrorOf, writable: false });
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
    (kind, value) => {
      takenError = kind === 3;
      taken = kind === 0 ? undefined : kind === 1 ? parse(value) : value;
    },
    (id) => {
      const promise = waiting[id];
      const value = taken;
      taken = undefined;
      if (promise === undefined) return;
      delete waiting[id];
      if (takenError) promise.reject(new ErrorOf(text(value)));
      else promise.resolve(value);
    },
    fail,
  ];
}
