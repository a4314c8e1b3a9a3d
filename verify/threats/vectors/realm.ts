import { row, run, type Vector } from "../vector.ts";

/** Of the page under attack: a declared read that carries a word to the test. */
declare function say(word: string): Promise<unknown>;
declare const connecta: { read(name: string, args?: unknown): Promise<unknown> };

const TAB = { needs: "tab", tells: true, ordinary: true } as const;

const NAMES = [
  "connecta parent top MessagePort MessageChannel Promise Map Object postMessage bindings",
  "currentScript head querySelector defaultView location read reads",
].join(" ");

const CLOBBERED = NAMES.split(" ").map(
  (name) =>
    `<a id="${name}" name="${name}" href="shop:delete"></a><img name="${name}"><form name="${name}"><input name="read"></form>`,
);

/** What a program may do to the names and prototypes that scripts of ours rely on. */
export const REALM: readonly Vector[] = [
  ...row(
    "Clobbered names",
    ["call"],
    {
      "elements by every name": (to) => CLOBBERED.join("") + run(() => say("ran"))(to),
    },
    TAB,
  ),
  ...row(
    "Polluted Object.prototype",
    ["call"],
    {
      "in every realm in reach": run(async () => {
        const binding = {
          address: "shop.delete",
          fixedArgs: {},
          viewArgs: ["id", "kind", "address"],
        };
        const named = { evil: binding, kind: "large", viewArgs: binding.viewArgs, jsonrpc: "2.0" };
        for (const realm of [window, parent, top]) {
          try {
            Object.assign((realm as typeof globalThis & Window).Object.prototype, named);
          } catch {
            // Out of reach.
          }
        }
        await connecta.read("evil", {}).catch(() => undefined);
        await say("ran");
      }),
      "with accessors, in every realm in reach": run(async () => {
        const names = ["evil", "id", "name", "args", "address", "ok", "value", "error", "type"];
        const binding = { address: "shop.delete", fixedArgs: {}, viewArgs: ["id"] };
        for (const realm of [window, parent, top]) {
          try {
            const theirs = (realm as typeof globalThis & Window).Object.prototype;
            for (const name of names) {
              const descriptor = Object.create(null);
              descriptor.get = () => binding;
              descriptor.set = () => undefined;
              descriptor.configurable = true;
              Object.defineProperty(theirs, name, descriptor);
            }
          } catch {
            // Out of reach.
          }
        }
        await Promise.race([connecta.read("evil", {}), say("early")]).catch(() => undefined);
        for (const name of names) delete (Object.prototype as Record<string, unknown>)[name];
        await say("ran");
      }),
    },
    TAB,
  ),
  ...row(
    "Replaced window.parent",
    ["call"],
    {
      "one that changes what is sent": run(async () => {
        const shell = window.parent;
        const postMessage = (message: object, ...rest: [string]) =>
          shell.postMessage({ ...message, name: "shop.delete" }, ...rest);
        Object.defineProperty(window, "parent", { value: { postMessage } });
        await say("early").catch(() => undefined);
        await say("ran").catch(() => undefined);
      }),
    },
    TAB,
  ),
  ...row(
    "Replaced MessagePort.prototype",
    ["call"],
    {
      "one that changes what is sent": run(async () => {
        const post = MessagePort.prototype.postMessage;
        MessagePort.prototype.postMessage = function (this: MessagePort, message: object) {
          post.call(this, { ...message, name: "shop.delete", args: { kind: "large" } });
        };
        const { port1, port2 } = new MessageChannel();
        parent.postMessage({ type: "connecta/port" }, "*", [port2]);
        port1.postMessage({ id: 1, name: "item" });
        await say("early").catch(() => undefined);
        MessagePort.prototype.postMessage = post;
        await say("ran");
      }),
    },
    TAB,
  ),
  ...row(
    "Replaced Promise",
    ["page"],
    {
      "in every realm in reach": run(async () => {
        let foreign = false;
        for (const realm of [parent, top]) {
          try {
            const theirs = realm as typeof globalThis & Window;
            theirs.Promise = class extends Promise<unknown> {
              constructor(executor: ConstructorParameters<typeof Promise>[0]) {
                super(executor);
                foreign = true;
              }
            } as PromiseConstructor;
          } catch {
            // Out of reach.
          }
        }
        const { prototype } = Promise;
        const { then } = prototype;
        Reflect.set(prototype, "then", () => prototype);
        const early = say("early");
        Reflect.set(prototype, "then", then);
        await early;
        if (foreign) await say("landed");
        await say("ran");
      }),
    },
    TAB,
  ),
  ...row(
    "Alerts",
    ["page", "prompt"],
    {
      "alerts and questions": run(async () => {
        let answered = false;
        for (let count = 0; count < 10; count++) {
          alert("a");
          answered = confirm("b");
          prompt("c");
        }
        if (answered) await say("landed");
        await say("ran");
      }),
    },
    // Firefox shows one and no more in a tab that nobody looks at.
    { ...TAB, firefox: { lands: ["prompt"] } },
  ),
];
