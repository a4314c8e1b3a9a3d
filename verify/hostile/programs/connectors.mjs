// Tools that wait, answer and count, for whatever runs hostile programs.

const object = (properties, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const nothing = object({});
const key = { type: "string" };

const read = (description, inputSchema, handler) => ({
  description,
  inputSchema,
  annotations: { readOnlyHint: true },
  handler,
});

/** Calls that wait under one key, and those who wait for so many of them. */
class Gate {
  #held = new Set();
  #expecting = new Set();

  get size() {
    return this.#held.size;
  }

  hold(signal) {
    return new Promise((resolve, reject) => {
      const leave = (settle) => {
        this.#held.delete(entry);
        signal.removeEventListener("abort", entry.aborted);
        settle();
      };
      const entry = {
        opened: () => leave(() => resolve("opened")),
        aborted: () => leave(() => reject(signal.reason)),
      };
      signal.addEventListener("abort", entry.aborted, { once: true });
      this.#held.add(entry);
      for (const { count, resolve: reached } of this.#expecting) {
        if (this.#held.size >= count) reached();
      }
    });
  }

  async arrived(count) {
    if (this.#held.size >= count) return;
    await new Promise((resolve) => this.#expecting.add({ count, resolve }));
  }

  open() {
    const held = [...this.#held];
    for (const { opened } of held) opened();
    return held.length;
  }
}

const gates = new Map();

function gateOf(name) {
  const gate = gates.get(name) ?? new Gate();
  gates.set(name, gate);
  return gate;
}

/** Names that objects inherit or that promises and JSON ask for, as tools of their own. */
const INHERITED = ["__proto__", "constructor", "toString", "then", "toJSON"];

/** @typedef {typeof import("connecta").api} Api */

let marks = 0;

/** @param {Api} api */
function gate(api) {
  return api({
    id: "gate",
    description: "Calls that wait until another call lets them go",
    tools: {
      wait: read("Waits.", object({ key }), (args, { signal }) => gateOf(args.key).hold(signal)),
      open: read("Lets all go that wait under a key.", object({ key }), (args) =>
        gateOf(args.key).open(),
      ),
      arrived: read(
        "Answers once so many calls wait under a key.",
        object({ key, count: { type: "integer" } }),
        async (args) => {
          await gateOf(args.key).arrived(args.count);
          return args.count;
        },
      ),
      all: read("How many calls wait in all.", nothing, () =>
        [...gates.values()].reduce((sum, { size }) => sum + size, 0),
      ),
    },
  });
}

/** @param {Api} api */
function data(api) {
  return api({
    id: "data",
    description: "Instant answers",
    tools: {
      read: read("A record.", nothing, () => ({ name: "a record", items: [1, 2, 3] })),
      mark: read("Counts its calls.", nothing, () => ++marks),
      marks: read("How often mark was called.", nothing, () => marks),
      bytes: read(
        "A text of so many bytes.",
        object({ count: { type: "integer", minimum: 0, maximum: 10_000_000 } }),
        ({ count }) => "x".repeat(count),
      ),
      later: read(
        "A text of so many bytes, once the key is opened.",
        object({ key, count: { type: "integer", minimum: 0, maximum: 10_000_000 } }),
        async (args, { signal }) => {
          await gateOf(args.key).hold(signal);
          return "x".repeat(args.count);
        },
      ),
      holding: read(
        "Waits with a text.",
        object({ key, text: { type: "string" } }),
        (args, { signal }) => gateOf(args.key).hold(signal),
      ),
      echo: read("Its arguments.", { type: "object" }, (args) => args),
      keys: read("What its arguments look like from inside.", { type: "object" }, (args) => ({
        keys: Object.keys(args),
        ordinary: Object.getPrototypeOf(args) === Object.prototype,
        polluted: "polluted" in args || "polluted" in {},
      })),
      strict: read("Takes one key and no other.", object({ key }, []), (args) => Object.keys(args)),
      gone: read("Fails as integrations fail.", nothing, () => {
        throw new Error("a text that stays inside");
      }),
      write: {
        description: "Changes something.",
        inputSchema: nothing,
        annotations: { readOnlyHint: false },
        handler: () => ++marks,
      },
    },
  });
}

/** @param {Api} api */
function inherited(api) {
  return api({
    id: "inherited",
    description: "Tools under names that objects inherit",
    tools: Object.fromEntries(
      INHERITED.map((name) => [name, read(`The tool ${name}.`, nothing, () => `tool ${name}`)]),
    ),
  });
}

/**
 * The connectors that every attack finds.
 * @param {Api} api
 */
export const connectors = (api) => [gate(api), data(api), inherited(api)];
