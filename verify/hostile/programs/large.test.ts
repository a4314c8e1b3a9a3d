import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDeployment, type Deployment } from "./support/deployment.ts";
import { Gateway } from "./support/gateway.ts";
import { residentMb, UNFIT } from "./support/processes.ts";
import { sandboxProcesses } from "./support/witnesses.ts";

const HEAP_MB = 512;
const PROGRAMS = 6;

/** What each asks for, in answers that are within every bound, and keeps nothing of. */
const ASKED_MB = 160;
const GREEDY = `async () => {
  const answers = Array.from({ length: 20 }, () =>
    data.bytes({ count: 8_000_000 }).then((text) => text.length, (error) => error.code));
  return (await Promise.all(answers)).length;
}`;

describe.skipIf(UNFIT)(`large answers${UNFIT ? `: skipped, ${UNFIT}` : ""}`, () => {
  let deployment: Deployment;
  let gateway: Gateway;

  beforeAll(async () => {
    deployment = await startDeployment(HEAP_MB);
    gateway = new Gateway(deployment.origin);
    await sandboxProcesses(gateway);
  });

  afterAll(async () => {
    gateway.close();
    await deployment.stop();
  });

  test("L2: programs that ask for a gigabyte at once are not given it at once", async () => {
    const beforeMb = residentMb(deployment.pid);
    const state = { most: beforeMb, over: false };
    const watch = async () => {
      while (!state.over) {
        expect(await gateway.health()).toBe(200);
        state.most = Math.max(state.most, residentMb(deployment.pid));
      }
    };
    const all = Promise.all(Array.from({ length: PROGRAMS }, () => gateway.run(GREEDY)));
    const end = () => (state.over = true);
    void all.then(end, end);
    const [ended] = await Promise.all([all, watch()]);
    expect(state.most - beforeMb).toBeLessThan((PROGRAMS * ASKED_MB) / 2);
    // Whether they get it or are refused: each is told, and the server goes on.
    const codes = new Set(ended.map(({ code }) => code));
    for (const code of codes) {
      expect(["ok", "executor_limit", "result_too_large", "executor_overloaded"]).toContain(code);
    }
    expect(await gateway.health()).toBe(200);
    expect(await gateway.run("async () => 6 * 7")).toEqual({ code: "ok", result: 42 });
  });
});
