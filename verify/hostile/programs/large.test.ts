import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDeployment, type Deployment } from "./support/deployment.ts";
import { Gateway } from "./support/gateway.ts";
import { residentMb, UNFIT } from "./support/processes.ts";
import { sandboxProcesses } from "./support/witnesses.ts";

const HEAP_MB = 320;
const PROGRAMS = 4;
const CALLS = 20;
const ANSWER_BYTES = 8_000_000;
const ALL_MB = (PROGRAMS * CALLS * ANSWER_BYTES) / 1_000_000;

/** Asks for many answers at once, each within every bound, and keeps nothing of them. */
const greedy = (call: string) => `async () => {
  const answers = Array.from({ length: ${CALLS} }, () =>
    ${call}.then((text) => text.length, (error) => error.code));
  return Promise.all(answers);
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

  const serves = async () => {
    expect(await gateway.health()).toBe(200);
    expect(await gateway.run("async () => 6 * 7")).toEqual({ code: "ok", result: 42 });
  };

  /** What the answers of all programs came to: their lengths, or the codes of their errors. */
  const attack = async (
    program: string,
    meanwhile: () => Promise<unknown> = async () => {},
    programs = PROGRAMS,
  ) => {
    const running = Array.from({ length: programs }, () => gateway.run(program));
    await meanwhile();
    const ended = await Promise.all(running);
    expect(ended.map(({ code }) => code)).toEqual(Array(programs).fill("ok"));
    return ended.flatMap(({ result }) => result as (number | string)[]);
  };

  test("the control: a process of this heap that holds them all at once ends", () => {
    const held = `const held = [];
      for (let at = 0; at < ${PROGRAMS * CALLS}; at++) held.push("x".repeat(${ANSWER_BYTES} - at));
      for (const text of held) JSON.stringify(text);
      console.log(held.length);`;
    const bound = `--max-old-space-size=${HEAP_MB}`;
    const { status } = spawnSync(process.execPath, [bound, "-e", held], { stdio: "ignore" });
    expect(status).not.toBe(0);
  });

  test("L2: programs that ask for twice the heap at once get it, but not at once", async () => {
    const beforeMb = residentMb(deployment.pid);
    const state = { most: beforeMb, over: false };
    const watch = async () => {
      while (!state.over) {
        await gateway.call("data.read");
        state.most = Math.max(state.most, residentMb(deployment.pid));
      }
    };
    const watching = watch();
    const answers = await attack(greedy(`data.bytes({ count: ${ANSWER_BYTES} })`)).finally(() => {
      state.over = true;
    });
    await watching;
    expect(new Set(answers)).toEqual(new Set([ANSWER_BYTES]));
    expect(state.most - beforeMb).toBeLessThan(ALL_MB);
    await serves();
  });

  test("L2: of answers that all come at one moment those without room are refused", async () => {
    const key = "late";
    const count = PROGRAMS * CALLS;
    const program = greedy(`data.later({ key: "${key}", count: ${ANSWER_BYTES} })`);
    const answers = await attack(program, async () => {
      await gateway.call("gate.arrived", { key, count });
      await gateway.call("gate.open", { key });
    });
    expect(answers).toHaveLength(count);
    expect(new Set(answers)).toEqual(new Set([ANSWER_BYTES, "executor_overloaded"]));
    await serves();
  });

  test("L2: arguments that calls hold while they wait are bounded as well", async () => {
    const many = 24;
    const program = `async () => {
      const text = "x".repeat(200_000);
      const answers = Array.from({ length: 16 }, () =>
        data.holding({ key: "held", text }).then(() => "held", (error) => error.code));
      await gate.wait({ key: "sent" });
      return Promise.all(answers);
    }`;
    const answers = await attack(
      program,
      async () => {
        await gateway.call("gate.arrived", { key: "sent", count: many });
        await gateway.call("gate.open", { key: "held" });
        await gateway.call("gate.open", { key: "sent" });
      },
      many,
    );
    expect(new Set(answers)).toEqual(new Set(["held", "executor_overloaded"]));
    expect(answers.filter((answer) => answer === "held").length).toBeLessThan(168);
    await serves();
  });
});
