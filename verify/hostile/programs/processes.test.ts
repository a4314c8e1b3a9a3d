import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { beyondItsMemory, NO_WAY } from "./support/beyond.ts";
import { startDeployment, type Deployment } from "./support/deployment.ts";
import { Gateway } from "./support/gateway.ts";
import { UNFIT } from "./support/processes.ts";
import { sandboxProcesses, watchReading, Witnesses } from "./support/witnesses.ts";

const OK = { code: "ok", result: 42 };
const TRIVIAL = "async () => 6 * 7";

describe.skipIf(UNFIT)(`sandbox processes${UNFIT ? `: skipped, ${UNFIT}` : ""}`, () => {
  let deployment: Deployment;
  let gateway: Gateway;

  beforeAll(async () => {
    deployment = await startDeployment();
    gateway = new Gateway(deployment.origin);
  });

  afterAll(async () => {
    gateway.close();
    await deployment.stop();
  });

  const serves = async () => {
    expect(await gateway.health()).toBe(200);
    expect(await gateway.run(TRIVIAL)).toEqual(OK);
  };

  test("L4: kill -9 of one takes its own runs and no other, and it is replaced", async () => {
    const pids = await sandboxProcesses(gateway);
    const witnesses = await Witnesses.start(gateway, pids, 4);
    const [killed = 0, other = 0] = pids;
    process.kill(killed, "SIGKILL");
    const lost = witnesses.all.filter(({ pid }) => pid === killed);
    // Lost at once: nobody has to let them go.
    for (const { ended } of lost) expect((await ended).code).toBe("executor_crashed");
    await serves();
    expect(await witnesses.release()).toEqual([killed]);
    const now = await sandboxProcesses(gateway);
    expect(now).toContain(other);
    expect(now).not.toContain(killed);
  });

  test("L4: kill -9 of all of them fails what runs, and the next program runs", async () => {
    const pids = await sandboxProcesses(gateway);
    const witnesses = await Witnesses.start(gateway, pids);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    for (const { ended } of witnesses.all) expect((await ended).code).toBe("executor_crashed");
    await serves();
    expect((await witnesses.release()).toSorted()).toEqual(pids.toSorted());
  });

  test("L4: kill -9 under a program that computes fails that program", async () => {
    const pids = await sandboxProcesses(gateway);
    const witnesses = await Witnesses.start(gateway, pids);
    const program = `async () => { /* ${"long ".repeat(20_000)} */
      await gate.wait({ key: "computing" }); for (;;); }`;
    const reading = watchReading(pids);
    const computing = gateway.run(program);
    await gateway.call("gate.arrived", { key: "computing", count: 1 });
    const ran = reading.readAtLeast(100_000);
    expect(ran).toHaveLength(1);
    await gateway.call("gate.open", { key: "computing" });
    process.kill(ran[0] ?? 0, "SIGKILL");
    expect((await computing).code).toBe("executor_crashed");
    expect(await witnesses.release()).toEqual(ran);
    await serves();
  });

  test("L4: kill -9 of an idle one fails at most what was on its way there", async () => {
    const [killed = 0] = await sandboxProcesses(gateway);
    process.kill(killed, "SIGKILL");
    const ended = await Promise.all(Array.from({ length: 20 }, () => gateway.run(TRIVIAL)));
    const failed = ended.filter(({ code }) => code !== "ok");
    expect([[], [{ code: "executor_crashed" }]]).toContainEqual(failed);
    expect(await sandboxProcesses(gateway)).not.toContain(killed);
    await serves();
  });

  test("L3: what a program starts and does not wait for is not called after its end", async () => {
    const before = await gateway.call("data.marks");
    const late = `async () => {
      data.read().then(() => data.mark(), () => data.mark());
      Promise.resolve().then(() => Promise.resolve()).then(() => data.mark());
      return 42;
    }`;
    for (let count = 0; count < 20; count++) expect(await gateway.run(late)).toMatchObject(OK);
    await serves();
    expect(await gateway.call("data.marks")).toBe(before);
    // The control: what it does wait for is called.
    await gateway.run("async () => data.read().then(() => data.mark())");
    expect(await gateway.call("data.marks")).toBe(Number(before) + 1);
  });

  test("P4: nothing that a program leaves behind is found by the next ones", async () => {
    const leave = `async () => {
      globalThis.left = 1;
      Object.prototype.left = Array.prototype.left = Promise.left = Math.left = 1;
      JSON.parse = JSON.stringify = Math.random = () => "left";
      (data.read.constructor).prototype.left = 1;
      console.left = Symbol.for("left");
      return (await data.read()).name;
    }`;
    const look = `async () => [
      typeof left, {}.left, [].left, Promise.left, Math.left, console.left, (async () => 1).left,
      JSON.parse("1"), typeof Math.random(),
    ]`;
    const clean = ["undefined", null, null, null, null, null, null, 1, "number"];
    const programs = Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? leave : look));
    const ended = await Promise.all(programs.map((program) => gateway.run(program)));
    for (const [at, { result }] of ended.entries()) {
      expect(result).toEqual(at % 2 === 0 ? "a record" : clean);
    }
    for (let count = 0; count < 40; count++) {
      expect((await gateway.run(count % 2 === 0 ? leave : look)).code).toBe("ok");
      expect((await gateway.run(look)).result).toEqual(clean);
    }
  });

  test("P4: a program that reads beyond its memory finds no number of another's", async () => {
    const secret = 1_234_567.890_123;
    // The engine changes the other half of a number when it stores one.
    const [half = 0] = new Uint32Array(new Float64Array([secret]).buffer);
    const use = `const use = (a, b, c, left) => (left === 0 ? a + b + c : use(c, a, b, left - 1));
      const used = use(${secret}, ${secret}, ${secret}, 60);`;
    // Masked, so that it does not find itself.
    const count = `(() => {
      const half = (${~half} ^ -1) >>> 0;
      let count = 0;
      for (let i = 1_000; i < 1_400_000; i++) if (words[i] === half) count++;
      return count;
    })()`;
    const own = await gateway.run(beyondItsMemory(use, count));
    // The control; an engine that lets no program beyond its memory needs none.
    if (own.code !== "ok" || own.result === NO_WAY) return;
    expect(own.result).toBeGreaterThan(0);
    for (let round = 0; round < 5; round++) {
      expect((await gateway.run(`async () => { ${use} return used > 0; }`)).result).toBe(true);
      expect((await gateway.run(beyondItsMemory("", count))).result).toBe(0);
    }
  });

  test("P4: no two programs draw the same random numbers", async () => {
    const drawn = await Promise.all(
      Array.from({ length: 50 }, () => gateway.run("async () => Math.random()")),
    );
    expect(new Set(drawn.map(({ result }) => result)).size).toBe(50);
  });
});
