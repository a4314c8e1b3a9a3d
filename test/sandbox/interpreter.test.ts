import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { HeapBudget, loadEngine, type Engine, type Instance } from "../../server/sandbox/engine.ts";
import { Interpreter, type InterpreterHost } from "../../server/sandbox/interpreter.ts";
import { prepare, type Prepared } from "../../server/sandbox/prepare.ts";
import { Run } from "../../server/sandbox/run.ts";
import { FRAME, KIND, type FrameParts } from "../../server/sandbox/protocol.ts";
import { setupOf } from "../../server/sandbox/setup.ts";
import { Spares } from "../../server/sandbox/spares.ts";
import { host, limitsWith } from "./support.ts";

vi.setConfig({ testTimeout: 60_000 });

const MIB = 1024 * 1024;
const near = createRequire(createRequire(import.meta.url).resolve("quickjs-emscripten"));
const binary = new Uint8Array(
  readFileSync(near.resolve("@jitl/quickjs-wasmfile-release-sync/wasm")),
);
const prelude = "const shared = { list: [1, 2, 3] };";
const setup = setupOf(host({ one: async () => 1 }, prelude), limitsWith({}));

let engine: Engine;
beforeAll(async () => {
  engine = await loadEngine(binary, new HeapBudget(512 * MIB));
});

async function instance(): Promise<Instance> {
  const made = await engine.instantiate();
  if (made === undefined) throw new Error("no memory for an instance");
  return made;
}

async function prepared(): Promise<Prepared> {
  const made = prepare(await instance(), setup);
  if (typeof made === "string") throw new Error(made);
  return made;
}

async function interpreter(): Promise<{ guest: Interpreter; heap: () => Uint8Array }> {
  const made = await instance();
  const guest = Interpreter.create(made, await prepared());
  if (guest === undefined) throw new Error("no memory for an interpreter");
  return { guest, heap: () => made.module.HEAPU8 };
}

/** Runs a program without a process and answers with what it ended in. */
function runIn(guest: Interpreter, code: string): string {
  let ended: string | undefined;
  const end = (bytes: Uint8Array) => {
    ended = Buffer.from(bytes).toString();
  };
  const lent: InterpreterHost = {
    call: () => "no calls here",
    log() {},
    done: (_kind, bytes) => end(bytes),
    failed: (_limit, _json, bytes) => end(bytes),
    invalid: end,
    overBudget: () => false,
    get ended() {
      return ended !== undefined;
    },
  };
  guest.begin(lent, Buffer.from(code));
  return ended ?? "did not end";
}

const POLLUTE = `async () => {
  Object.prototype.left = "behind"; Array.prototype.map = null; shared.list.push(4);
  globalThis.kept = new Uint8Array(200_000).fill(7); return "polluted" }`;
const LOOK = "async () => [{}.left, typeof [].map, shared.list.length, typeof kept].join()";
const FRESH = ",function,3,undefined";

describe("P4: restoring an interpreter", () => {
  it("gives the next program the memory that the first one got", async () => {
    const { guest } = await interpreter();
    expect(runIn(guest, LOOK)).toBe(FRESH);
    guest.restore();
    expect(runIn(guest, POLLUTE)).toBe("polluted");
    expect(guest.restore()).toBe(true);
    expect(runIn(guest, LOOK)).toBe(FRESH);
  });

  it("is what takes the changes away: the control without it", async () => {
    const { guest } = await interpreter();
    runIn(guest, POLLUTE);
    expect(runIn(guest, LOOK)).toBe("behind,object,4,object");
  });

  it("is exact: heap and data are those of the start, byte for byte", async () => {
    const { guest, heap } = await interpreter();
    const stackEnd = 5_333_088;
    const parts = () => [heap().slice(0, 90_000), heap().slice(stackEnd)];
    const before = parts();
    runIn(guest, POLLUTE);
    const polluted = parts();
    guest.restore();
    const after = parts();
    expect(Buffer.compare(before[1] ?? heap(), polluted[1] ?? heap())).not.toBe(0);
    for (const at of [0, 1]) {
      const now = after[at]?.subarray(0, before[at]?.length);
      expect(Buffer.compare(before[at] ?? heap(), now ?? heap())).toBe(0);
    }
  });

  it("clears what a run left on the C stack", async () => {
    const { guest, heap } = await interpreter();
    const [from, to] = [90_000, 5_333_088];
    const used = () =>
      heap()
        .subarray(from, to)
        .filter((byte) => byte !== 0).length;
    const before = used();
    runIn(guest, "async () => { const f = (n) => n === 0 ? 0 : 1 + f(n - 1); return f(400) }");
    expect(used()).toBeGreaterThan(before + 10_000);
    guest.restore();
    expect(used()).toBe(before);
  });

  it("leaves nothing of a program's data anywhere in the heap", async () => {
    const { guest, heap } = await interpreter();
    const holds = () => Buffer.from(heap().buffer).includes("a secret of one program");
    runIn(
      guest,
      "async () => { globalThis.s = 'a secret of ' + 'one program'.repeat(3); return 1 }",
    );
    expect(holds()).toBe(true);
    guest.restore();
    expect(holds()).toBe(false);
  });

  it("is refused after a program that made the memory large", async () => {
    const { guest } = await interpreter();
    runIn(guest, "async () => { new Uint8Array(12 << 20).fill(1); return 1 }");
    expect(guest.restore()).toBe(false);
  });

  it("works in any instance of the engine: an image is made once for a setup", async () => {
    const image = await prepared();
    const guests = await Promise.all(
      [1, 2, 3].map(async () => Interpreter.create(await instance(), image)),
    );
    for (const guest of guests) expect(guest && runIn(guest, POLLUTE)).toBe("polluted");
    for (const guest of guests) expect(guest?.restore()).toBe(true);
    for (const guest of guests) expect(guest && runIn(guest, LOOK)).toBe(FRESH);
  });

  it("carries a large prelude into an instance that is smaller", async () => {
    const large = setupOf(
      host({}, "const kept = new Uint8Array(3 << 20).fill(9); let text = 'x'.repeat(1 << 20);"),
      limitsWith({}),
    );
    const image = prepare(await instance(), large);
    if (typeof image === "string") throw new Error(image);
    const guest = Interpreter.create(await instance(), image);
    const code = "async () => [kept.every((byte) => byte === 9), text.length]";
    expect(guest && runIn(guest, code)).toBe("[true,1048576]");
  });
});

describe("L4: spare interpreters", () => {
  it("serve a hundred runs and are then replaced", async () => {
    let made = 0;
    const counting: Engine = {
      instantiate: async () => {
        made++;
        return engine.instantiate();
      },
    };
    const spares = new Spares(counting, new HeapBudget(MIB));
    spares.add(1, setup);
    const known = await spares.known(1);
    if (known === undefined) throw new Error("no setup");
    const first = await spares.take(known);
    if (first === undefined) throw new Error("no interpreter");
    for (let run = 1; run <= 100; run++) {
      expect(known.spares).not.toContain(first);
      runIn(first, "async () => 1");
      expect(first.uses).toBe(run);
      spares.giveBack(known, first, true);
      expect(known.spares.includes(first)).toBe(run < 100);
      const at = known.spares.indexOf(first);
      if (at >= 0) known.spares.splice(at, 1);
    }
    expect(made).toBeGreaterThanOrEqual(1);
    await spares.forget(1);
  });

  it("do not come back after a run that ended as runs should not", async () => {
    const spares = new Spares(engine, new HeapBudget(MIB));
    spares.add(1, setup);
    const known = await spares.known(1);
    const guest = known && (await spares.take(known));
    if (!known || !guest) throw new Error("no interpreter");
    spares.giveBack(known, guest, false);
    expect(known.spares).not.toContain(guest);
    await spares.forget(1);
    expect(known.spares).toEqual([]);
  });
});

describe("L1: CPU of a run", () => {
  const limits = limitsWith({ cpuMs: 100 });

  async function run(msPerLook: { wall: number; cpu: number }): Promise<FrameParts | undefined> {
    const { guest } = await interpreter();
    let looks = 0;
    vi.spyOn(performance, "now").mockImplementation(() => ++looks * msPerLook.wall);
    vi.spyOn(process, "cpuUsage").mockImplementation((since) => ({
      user: looks * msPerLook.cpu * 1000 - (since?.user ?? 0),
      system: 0,
    }));
    const frames: FrameParts[] = [];
    const outbox = {
      queue: (parts: FrameParts) => void frames.push(parts),
      flush() {},
      glance() {},
    };
    const made = new Run(1, { interpreter: guest, limits, outbox, setupMs: 0 });
    made.begin(Buffer.from("async () => { for (let i = 0; i < 300_000; i++); return 'through' }"));
    vi.restoreAllMocks();
    return frames.find(({ type }) => type === FRAME.done);
  }

  function textOf(frame: FrameParts | undefined): string {
    return Buffer.from(frame?.payload ?? "").toString();
  }

  it("is the time that the machine gave it, not the time that passed", async () => {
    const done = await run({ wall: 50, cpu: 0.1 });
    expect([done?.kind, textOf(done)]).toEqual([KIND.text, "through"]);
  });

  it("ends it when all of that time was its own: the control", async () => {
    const done = await run({ wall: 50, cpu: 50 });
    expect(done?.kind).toBe(KIND.failure);
    expect(JSON.parse(textOf(done))).toMatchObject({ limit: "cpu" });
  });
});

describe("L4: an interpreter that breaks", () => {
  it("ends its own run as crashed and is not used again", async () => {
    const { guest, heap } = await interpreter();
    const frames: FrameParts[] = [];
    const outbox = {
      queue: (parts: FrameParts) => void frames.push(parts),
      flush() {},
      glance() {},
    };
    const limits = limitsWith({});
    const made = new Run(1, { interpreter: guest, limits, outbox, setupMs: 0 });
    made.begin(Buffer.from("async () => { const a = []; await host.one(); a.b() }"));
    const call = frames.find(({ type }) => type === FRAME.call);
    expect([call?.call, made.ended]).toEqual([1, false]);
    heap().fill(255, 5_333_088);
    made.reply(1, KIND.json, Buffer.from("1"));
    const done = frames.find(({ type }) => type === FRAME.done);
    expect(done?.kind).toBe(KIND.failure);
    const told: unknown = JSON.parse(Buffer.from(done?.payload ?? "").toString());
    expect(told).toMatchObject({ code: "executor_crashed" });
    expect([made.ended, made.clean]).toEqual([true, false]);
  });
});

describe("L4: the heap bound of a process", () => {
  it("refuses an instance, and the growth of one, and takes back what is dropped", async () => {
    const budget = new HeapBudget(4 * MIB);
    const small = await loadEngine(binary, budget);
    const first = await small.instantiate();
    const held = budget.usedBytes;
    expect(held).toBeGreaterThan(0);
    expect(first?.module._malloc(6 * MIB)).toBe(0);
    expect(first?.refused()).toBe("process");
    const others = [];
    for (;;) {
      const made = await small.instantiate();
      if (made === undefined) break;
      others.push(made);
    }
    expect(others).toHaveLength(Math.floor((4 * MIB) / held) - 1);
    for (const made of [first, ...others]) made?.drop();
    expect(budget.usedBytes).toBe(0);
    expect(await small.instantiate()).toBeDefined();
  });

  it("is not the bound of one guest, which is refused by its own", async () => {
    const made = await instance();
    made.limitHeap(8 * MIB);
    expect(made.module._malloc(4 * MIB)).not.toBe(0);
    expect(made.refused()).toBeUndefined();
    expect(made.module._malloc(8 * MIB)).toBe(0);
    expect(made.refused()).toBe("own");
  });
});
