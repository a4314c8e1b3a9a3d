import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import {
  api,
  memoryActivity,
  memoryStorage,
  remoteMcp,
  storageActivity,
  type ActivityStore,
  type Connecta,
  type Connector,
  type Storage,
} from "../../server/index.ts";
import { fileActivity } from "../../server/node/activity-file.ts";
import {
  fakeServer,
  modern,
  type FakeServer,
} from "../../verify/hostile/downstream/support/http.ts";
import { chance } from "../../verify/soak/chance.mjs";
import { valueOf } from "../support/catalog.ts";
import { call, deploy } from "./ticket-desk.ts";

const folder = mkdtempSync(join(tmpdir(), "connecta-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

/** Where a secret is put, each time another one. */
const PLACES = [
  "argument",
  "argument name",
  "result",
  "result name",
  "text of an exception",
  "name of an exception",
  "place of an exception",
  "text of a failed result",
  "header",
  "header name",
  "bearer",
  "program",
  "log of a program",
  "reason",
  "end of a long address",
] as const;
type Place = (typeof PLACES)[number];

/** Secrets as they look in the wild, each used in one place; none is a word of ours. */
function secrets(random: () => number): (place: Place) => string {
  const made = new Map<Place, string>();
  const letters = (alphabet: string, count: number) =>
    Array.from({ length: count }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
  const forms = [
    () => `sk-${letters("abcdef0123456789", 32)}`,
    () => `${letters("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", 20)}9`,
    () => `eyJ${letters("abcdefghijkABCDEFGHIJK0123456789_-", 60)}7`,
    () => `${letters("0123456789", 16)}`,
    () => `p4ss-${letters("bcdfghjklmnpqrstvwxz", 12)}`,
  ];
  return (place) => {
    const known = made.get(place);
    if (known !== undefined) return known;
    const form = forms[Math.floor(random() * forms.length)] ?? (() => "");
    const secret = form();
    made.set(place, secret);
    return secret;
  };
}

const READ = { inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };

/** An integration that hands out secrets in every way in which it may fail. */
function desk(secret: (place: Place) => string): Connector {
  const thrown = () => {
    const text = `cannot use ${secret("text of an exception")}`;
    // Looks like a line of a stack, which the log prints.
    const place = `    at ${secret("place of an exception")} (file:///a/${secret("place of an exception")}.js:1:2)`;
    return Object.assign(new Error(`${text}\n${place}`), { name: secret("name of an exception") });
  };
  return api({
    id: "desk",
    tools: {
      read: {
        ...READ,
        description: "Read.",
        handler: () => ({ [secret("result name")]: secret("result") }),
      },
      large: {
        ...READ,
        description: "Read much.",
        handler: () => secret("result").repeat(9_000),
      },
      fail: {
        ...READ,
        description: "Fail.",
        handler: () => {
          throw thrown();
        },
      },
      reject: { ...READ, description: "Fail later.", handler: () => Promise.reject(thrown()) },
      odd: { ...READ, description: "Fail oddly.", handler: () => Promise.reject(secret("result")) },
      strict: {
        ...READ,
        description: "Read one.",
        inputSchema: { type: "object", properties: { id: { type: "integer" } } },
        handler: () => 1,
      },
      write: {
        description: "Write.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: false },
        handler: () => ({ written: secret("result") }),
      },
    },
  });
}

/** A server that says every header again, wherever it can. */
function echoing(secret: (place: Place) => string): Promise<FakeServer> {
  let calls = 0;
  return fakeServer(
    modern(({ method, headers }, reply) => {
      if (method !== "tools/call") return false;
      const said = JSON.stringify(headers);
      const answers = [
        () => reply.status(401, { "www-authenticate": `Bearer realm="x"` }, said),
        () => reply.status(500, {}, said),
        () => reply.error(-32_603, "Internal error", 200, headers),
        () => {
          const text = `no: ${secret("text of a failed result")}`;
          const content = [{ type: "text", text }];
          reply.result({ resultType: "complete", content, isError: true });
        },
        () => reply.status(200, { "content-type": "application/json" }, `{${said}`),
      ];
      (answers[calls++ % answers.length] ?? (() => {}))();
      return true;
    }),
  );
}

/** Every kind of store at once, and all that they hold. */
function stores(name: string) {
  const file = join(folder, `${name}.jsonl`);
  const storage = memoryStorage();
  const held: string[] = [];
  const noting: Storage = {
    ...storage,
    set: (key, value, options) => {
      held.push(key, value);
      return storage.set(key, value, options);
    },
  };
  const all = [
    memoryActivity(),
    fileActivity({ file }),
    storageActivity({ storage: noting, flushMs: 0 }),
  ];
  const activity: ActivityStore = {
    record: (event) => {
      for (const one of all) void one.record(event);
    },
    read: (query) => (all[0] ?? memoryActivity()).read(query),
  };
  return {
    activity,
    /** How much each recorded, and the text of all of it. */
    async contents() {
      const pages = await Promise.all(all.map((one) => one.read({ limit: 1_000 })));
      const counts = pages.map((page) => valueOf(page).events.length);
      await all[1]?.close?.();
      const texts = [...pages.map((page) => JSON.stringify(page)), readFileSync(file, "utf8")];
      return { counts, text: [...texts, ...held].join("\n") };
    },
  };
}

/** Everything that a client may ask for, with secrets wherever it can put one. */
async function useAll(
  connecta: Connecta,
  secret: (place: Place) => string,
  token: string,
): Promise<string[]> {
  const args = { [secret("argument name")]: secret("argument"), list: [secret("argument")] };
  const errors: string[] = [];
  const ask = async (name: string, input: object) => {
    const { structuredContent = {} } = await call(connecta, name, input, { token });
    const { error } = structuredContent as { error?: Record<string, unknown> };
    // The next action may repeat the caller's own words to the caller.
    if (error) errors.push(JSON.stringify({ ...error, nextAction: undefined }));
  };
  const long = `desk.${"x".repeat(200)}${secret("end of a long address")}`;
  const tools = ["read", "large", "fail", "reject", "odd", "write", "nothing"];
  for (const address of [...tools.map((tool) => `desk.${tool}`), long, "else.where"]) {
    await ask("call_tool", { address, args });
    await ask("call_destructive_tool", { address, args, reason: secret("reason") });
    const named = JSON.stringify([address, args]);
    await ask("execute_code", {
      code: `async () => { console.log(${JSON.stringify(secret("log of a program"))});
        const hidden = ${JSON.stringify(secret("program"))};
        await connecta.batch([{ address: "desk.fail", args: { hidden } }]);
        return connecta.call(...${named}) }`,
    });
  }
  await ask("call_tool", { address: "desk.strict", args: { id: secret("argument") } });
  for (let at = 0; at < 5; at++) await ask("call_tool", { address: "crm.echo", args });
  return errors;
}

async function answersOutside(connecta: Connecta, wrong: string): Promise<string> {
  const ask = async (path: string, headers: Record<string, string>) => {
    const url = `http://127.0.0.1:8787${path}`;
    const sent = { method: path === "/health" ? "GET" : "POST", headers };
    const response = await connecta.fetch(new Request(url, sent));
    return `${JSON.stringify([...response.headers])}${await response.text()}`;
  };
  const host = { host: "127.0.0.1:8787" };
  const authorization = `Bearer ${wrong}`;
  return [
    await ask("/health", host),
    await ask("/health", { ...host, authorization }),
    await ask("/mcp", { ...host, authorization }),
  ].join("\n");
}

const servers: FakeServer[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) await server.close();
});

describe("T1, E4: nothing that a call carries is told to anybody but its caller", () => {
  const OUTPUTS = ["error", "warn", "info", "log", "debug"] as const;

  test.each(SEEDS)("seed %d: not by an event, a log line, /health or an error", async (seed) => {
    const secret = secrets(chance(seed));
    const lines: string[] = [];
    const note = (...parts: unknown[]) => void lines.push(parts.map(String).join(" "));
    for (const name of OUTPUTS) vi.spyOn(console, name).mockImplementation(note);
    const server = await echoing(secret);
    servers.push(server);
    // Header names are told in small letters.
    const headers = {
      authorization: `Bearer ${secret("header")}`,
      [`x-${secret("header name")}`]: secret("header"),
    };
    const kept = stores(`seed-${seed}`);
    const token = `${secret("bearer")}-${"t".repeat(16)}`;
    const connecta = deploy([desk(secret), remoteMcp({ id: "crm", url: server.url, headers })], {
      auth: { bearer: token },
      activity: kept.activity,
    });
    const errors = await useAll(connecta, secret, token);
    const outside = await answersOutside(connecta, secret("header"));
    await connecta.close();
    const { counts, text } = await kept.contents();

    // What must not be found was there to be found.
    expect(server.asked.some((asked) => JSON.stringify(asked).includes(secret("header")))).toBe(
      true,
    );
    expect(errors.length).toBeGreaterThan(20);
    expect(lines.length).toBeGreaterThan(5);
    expect(counts).toEqual([counts[0], counts[0], counts[0]]);
    expect(counts[0]).toBeGreaterThan(35);

    const own: readonly Place[] = ["text of a failed result", "end of a long address"];
    const told = (place: Place) => {
      const texts = [text, lines.join("\n"), outside];
      // What a server says of a failed call is its caller's to read, and so are his own words.
      return own.includes(place) ? texts : [...texts, ...errors];
    };
    const found = PLACES.filter((place) => {
      const hidden = secret(place).toLowerCase();
      return told(place).some((one) => one.toLowerCase().includes(hidden));
    });
    expect(found).toEqual([]);
  });
});
