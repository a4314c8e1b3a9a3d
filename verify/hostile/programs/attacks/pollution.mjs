/** What the record's name is when nobody came between. */
const honest = { code: "ok", result: "a record" };

const fooled = { ...honest, lands: "fools" };

/** @type {import("../attacks.mjs").Attack[]} */
export const POLLUTION = [
  {
    title: "JSON whose functions answer what the program likes",
    program: `async () => {
      JSON.parse = () => ({ ok: true, value: { name: "forged" }, name: "forged" });
      JSON.stringify = () => '{"ok":true,"value":"forged"}';
      return (await data.read()).name;
    }`,
    ...fooled,
  },
  {
    title: "another JSON in place of the global",
    program: `async () => {
      globalThis.JSON = { parse: () => ({ name: "forged" }), stringify: () => '"forged"' };
      return (await data.read()).name;
    }`,
    ...fooled,
  },
  {
    title: "toJSON for every object",
    program: `async () => {
      const { name } = await data.read();
      Object.prototype.toJSON = () => ({ ok: false, code: "auth_required", message: "forged" });
      return name;
    }`,
    ...fooled,
  },
  {
    title: "toJSON for every text",
    program: `async () => {
      const { name } = await data.read();
      String.prototype.toJSON = () => "forged";
      return name;
    }`,
    ...honest,
  },
  {
    title: "getters that every property descriptor inherits",
    program: `async () => {
      Object.defineProperty(Object.prototype, "get", { value: () => "forged", configurable: true });
      return (await data.read()).name;
    }`,
    ...honest,
  },
  {
    title: "members of the bridge's answers that every object inherits",
    program: `async () => {
      const lost = { __proto__: null, get: () => undefined, set() {}, configurable: true };
      for (const name of ["ok", "id", "failure", "value", "kind", "error", "then"]) {
        Object.defineProperty(Object.prototype, name, lost);
      }
      return (await data.read()).name;
    }`,
    ...honest,
  },
  {
    title: "elements that every array inherits",
    program: `async () => {
      for (const at of [0, 1, 2]) {
        Object.defineProperty(Array.prototype, at, { get: () => "forged", set() {}, configurable: true });
      }
      return (await connecta.call("data.read")).name;
    }`,
    ...honest,
  },
  {
    title: "an iterator of arrays that loses everything, before an address is called",
    program: `async () => {
      Array.prototype[Symbol.iterator] = function* () {};
      return (await connecta.call("data.read")).name;
    }`,
    ...honest,
  },
  {
    title: "an iterator of arrays that adds something, before a shortcut is called",
    program: `async () => {
      Array.prototype[Symbol.iterator] = function* () { yield "forged"; };
      return (await data.read()).name;
    }`,
    ...honest,
  },
  {
    title: "array methods that throw",
    program: `async () => {
      for (const name of ["push", "join", "map", "slice", "concat", "forEach", "includes", "indexOf"]) {
        Array.prototype[name] = () => { throw new Error("forged"); };
      }
      return (await data.read()).name;
    }`,
    ...honest,
  },
  {
    title: "a then of all promises that answers at once",
    program: `async () => {
      Promise.prototype.then = function (resolve) { resolve({ name: "forged" }); return this; };
      return (await connecta.call("data.read")).name;
    }`,
    ...fooled,
  },
  {
    title: "another Promise in place of the global",
    program: `async () => {
      globalThis.Promise = class { constructor(start) { start(() => {}, () => {}); } };
      return (await data.read()).name;
    }`,
    ...honest,
  },
  {
    title: "catch and finally of all promises that throw",
    program: `async () => {
      Promise.prototype.catch = Promise.prototype.finally = () => { throw new Error("forged"); };
      return (await data.read()).name;
    }`,
    ...honest,
  },
  {
    title: "another Error in place of the global, before a host failure",
    program: `async () => {
      globalThis.Error = function () { return Object.freeze({ code: "auth_required" }); };
      await data.gone();
    }`,
    code: "connector_call_failed",
    lands: "fools",
  },
  {
    title: "errors that say what the program likes",
    program: `async () => {
      Object.defineProperty(Error.prototype, "code", { get: () => "auth_required", set() {} });
      Object.defineProperty(Error.prototype, "message", { get: () => "forged", set() {} });
      Error.prototype.toString = () => "forged";
      Error.prepareStackTrace = () => [{}];
      Error.captureStackTrace = (error) => { error.code = "auth_required"; };
      throw new Error("own");
    }`,
    code: "program_error",
    lands: "fools",
  },
  {
    title: "a Proxy that is another function",
    program: `async () => {
      globalThis.Proxy = function () { return { read: () => ({ name: "forged" }) }; };
      return (await data.read()).name;
    }`,
    ...honest,
  },
  {
    title: "Reflect, WeakMap, Object and Number that lie",
    program: `async () => {
      WeakMap.prototype.get = () => '"code":"auth_required","message":"forged"';
      WeakMap.prototype.set = WeakMap.prototype.has = () => true;
      Reflect.apply = Reflect.get = () => "forged";
      Object.getPrototypeOf = Object.keys = Object.defineProperty = () => "forged";
      Number.isFinite = Array.isArray = () => false;
      ArrayBuffer.isView = () => true;
      return (await data.read()).name;
    }`,
    ...honest,
  },
  {
    title: "call, apply and bind of all functions that lie",
    program: `async () => {
      Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => "forged";
      return (await data.read()).name;
    }`,
    ...honest,
  },
  {
    title: "texts and regular expressions that lie",
    program: `async () => {
      for (const name of ["slice", "concat", "toString", "valueOf", "replace", "split"]) {
        String.prototype[name] = () => "forged";
      }
      RegExp.prototype.exec = RegExp.prototype.test = () => ["forged", "forged", "1", "1"];
      RegExp.prototype[Symbol.replace] = () => "forged";
      return (await data.read()).name;
    }`,
    ...honest,
  },
  {
    title: "every method of every prototype thrown away",
    program: `async () => {
      const { getOwnPropertyNames } = Object;
      for (const of of [Object, Array, Promise, Error, String, Function, RegExp, Map, WeakMap, Number]) {
        for (const name of getOwnPropertyNames(of.prototype)) {
          try { delete of.prototype[name]; } catch {}
        }
      }
      return (await connecta.call("data.read")).name;
    }`,
    ...honest,
  },
  {
    title: "another function in place of connecta.call",
    program: `async () => { connecta.call = () => ({ name: "forged" }); }`,
    code: "program_error",
    lands: "fools",
  },
  {
    title: "another definition of connecta.call",
    program: `async () => {
      Object.defineProperty(connecta, "call", { value: () => ({ name: "forged" }) });
    }`,
    code: "program_error",
    lands: "fools",
  },
  {
    title: "a prototype under the bridge",
    program: `async () => { Object.setPrototypeOf(connecta, { raw: 1 }); }`,
    code: "program_error",
  },
  {
    title: "a tool put on a shortcut",
    program: `async () => { data.read = () => ({ name: "forged" }); }`,
    code: "program_error",
    lands: "fools",
  },
  {
    title: "the bridge taken away",
    program: `async () => { delete connecta.call; }`,
    code: "program_error",
    lands: "fools",
  },
  {
    title: "a console that throws",
    program: `async () => {
      console.log = () => { throw new Error("forged"); };
      globalThis.console = undefined;
      return (await data.read()).name;
    }`,
    ...honest,
  },
];
