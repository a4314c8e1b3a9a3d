import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "./support/attacked.ts";
import type { Deployment } from "./support/deployment.ts";
import { CLOSED, type Ended, type Gateway } from "./support/gateway.ts";
import { expectMemoryBack } from "./support/ordinary.ts";
import { openDescriptors, settled, UNFIT } from "./support/processes.ts";
import { seeded } from "./support/random.ts";
import { sandboxProcesses, Witnesses } from "./support/witnesses.ts";

const SEED = 20_260_728;
const BATCHES = 25;
const AT_ONCE = 40;
const MAX_RUNS = 64;

/** A program, how many of a hundred are of its kind, and what it may come to when it is in time. */
interface Kind {
  readonly share: number;
  readonly program: string;
  readonly codes: readonly string[];
}

const KINDS: readonly Kind[] = [
  { share: 35, program: `async () => gate.wait({ key: "cancelled" })`, codes: [] },
  {
    share: 15,
    program: "async () => { for (let i = 0; i < 20; i++) await data.read(); return 42; }",
    codes: ["ok"],
  },
  {
    share: 12,
    program: "async () => { for (let i = 0; i < 50_000; i++); return data.read(); }",
    codes: ["ok"],
  },
  {
    share: 10,
    program: "async () => (await data.bytes({ count: 1_000_000 })).length",
    codes: ["ok"],
  },
  {
    share: 10,
    program: `async () => {
      await connecta.ui("x".repeat(200_000));
      return gate.wait({ key: "cancelled" });
    }`,
    codes: [],
  },
  {
    share: 8,
    program: "async () => { const all = []; for (;;) all.push(new Uint8Array(1_000_000)); }",
    codes: ["executor_limit"],
  },
  { share: 6, program: "async () => { for (;;); }", codes: ["executor_limit"] },
  {
    share: 4,
    program: "async () => { const all = []; for (;;) all.push(data.read()); }",
    codes: ["budget_exceeded"],
  },
];

/** Every program is cancelled at another moment, this many milliseconds after it was sent at most. */
const LATEST_MS = 40;

describe.skipIf(UNFIT)(`cancelled programs${UNFIT ? `: skipped, ${UNFIT}` : ""}`, () => {
  let deployment: Deployment;
  let gateway: Gateway;
  let beforeMb = 0;

  const server = useServer();
  beforeAll(() => {
    ({ deployment, gateway, beforeMb } = server());
  });

  /** Starts one program and closes its request at a moment of the generator's choice. */
  async function cancelled(random: () => number): Promise<{ kind: Kind; ended: Ended }> {
    const kind = chosen(random());
    const afterMs = random() * LATEST_MS;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), afterMs);
    const ended = await gateway.run(kind.program, controller.signal);
    clearTimeout(timer);
    return { kind, ended };
  }

  test("L3: a thousand programs cancelled at random moments leave nothing behind", async () => {
    const pids = await sandboxProcesses(gateway);
    const descriptors = openDescriptors(deployment.pid);
    const witnesses = await Witnesses.start(gateway, pids);
    const random = seeded(SEED);
    const inTime: { kind: Kind; ended: Ended }[] = [];
    try {
      for (let batch = 0; batch < BATCHES; batch++) {
        const all = await Promise.all(Array.from({ length: AT_ONCE }, () => cancelled(random)));
        inTime.push(...all.filter(({ ended }) => ended !== CLOSED));
        expect(await gateway.health()).toBe(200);
      }
      expect(await witnesses.release()).toEqual([]);
    } finally {
      await witnesses.leave();
    }
    // Most were cancelled, and what ended before it was ended as it should.
    expect(inTime.length).toBeLessThan((BATCHES * AT_ONCE) / 2);
    const wrong = inTime.filter(({ kind, ended }) => !kind.codes.includes(ended.code));
    expect(wrong.map(({ kind, ended }) => `${ended.code}: ${kind.program}`)).toEqual([]);
    expect(await sandboxProcesses(gateway)).toEqual(pids);
    const calls = () => gateway.call("gate.all").then(Number);
    expect(await settled(calls, (count) => count === 0, 5_000)).toBe(0);
    const opened = await settled(
      () => openDescriptors(deployment.pid),
      (count) => count <= descriptors + AT_ONCE,
      5_000,
    );
    // Connections of this client that are kept open are the only ones more.
    expect(opened).toBeLessThanOrEqual(descriptors + AT_ONCE);
  });

  test("L2: all places are free again, and none but those", async () => {
    const key = "places";
    const program = `async () => gate.wait({ key: ${JSON.stringify(key)} })`;
    const held = Array.from({ length: MAX_RUNS }, () => gateway.run(program));
    await gateway.call("gate.arrived", { key, count: MAX_RUNS });
    const controller = new AbortController();
    const queued = gateway.run(program, controller.signal);
    expect(await gateway.health()).toBe(200);
    controller.abort();
    expect(await queued).toBe(CLOSED);
    expect(await gateway.call("gate.open", { key })).toBe(MAX_RUNS);
    for (const { code } of await Promise.all(held)) expect(code).toBe("ok");
  });

  test("L3: afterwards the server is hardly larger than before, and serves", async () => {
    await expectMemoryBack(deployment.pid, beforeMb);
    expect(await gateway.run("async () => (await data.read()).name")).toEqual({
      code: "ok",
      result: "a record",
    });
  });
});

/** The kind at a point of the whole, between 0 and 1. */
function chosen(at: number): Kind {
  let left = at * KINDS.reduce((sum, { share }) => sum + share, 0);
  for (const kind of KINDS) {
    left -= kind.share;
    if (left < 0) return kind;
  }
  throw new Error("The shares do not cover the whole.");
}
