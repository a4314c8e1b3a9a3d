import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { quickjsExecutor, type QuickJsExecutor } from "../../server/sandbox/pool.ts";
import { host, report } from "./support.ts";

let pool: QuickJsExecutor;
beforeAll(() => {
  pool = quickjsExecutor({ processes: 1 });
});
afterAll(() => pool.close());

const fns = { fails: () => Promise.reject(new Error("no")), works: () => Promise.resolve(1) };

describe("E1: a rejection that nobody handles", () => {
  it.each([
    ["of a promise that was thrown away", `async () => { Promise.reject(new TypeError("a")); }`],
    ["of an async function that nobody awaited", `async () => { (async () => null.x)(); }`],
    [
      "of a host call that nobody awaited",
      `async () => { host.fails(); await host.works(); await host.works(); }`,
    ],
    [
      "behind a then that only handles success",
      `async () => { Promise.reject(1).then(() => 2); await host.works(); }`,
    ],
    ["when the program fails as well", `async () => { Promise.reject(1); throw new Error("b"); }`],
    [
      "when the program waits for what never settles",
      `async () => { Promise.reject(new Error("why")); await new Promise(() => {}); }`,
    ],
  ])("is a line of the logs: %s", async (_, code) => {
    const { logs } = await report(pool, code, host(fns));
    expect(logs).toEqual([expect.stringMatching(/^\[unhandled\] /)]);
  });

  it("says what it was, in the order of the rejections", async () => {
    const code = `async () => {
      console.log("first");
      Promise.reject(new TypeError("one"));
      Promise.reject("two");
      Promise.reject();
    }`;
    const { logs, error } = await report(pool, code);
    expect(error).toBeUndefined();
    const lines = ["first", "[unhandled] TypeError: one", "[unhandled] two"];
    expect(logs).toEqual([...lines, "[unhandled] undefined"]);
  });

  it.each([
    `async () => { try { await Promise.reject(1); } catch {} }`,
    `async () => { const late = Promise.reject(1); await host.works(); await late.catch(() => {}); }`,
    `async () => { await Promise.allSettled([Promise.reject(1), host.fails()]); }`,
    `async () => { await Promise.all([Promise.reject(1), host.fails()]).catch(() => {}); }`,
    `async () => { for await (const x of (async function* () { yield 1; })()) break; }`,
  ])("is none when it was handled in time: %s", async (code) => {
    const { logs, error } = await report(pool, code, host(fns));
    expect(error).toBeUndefined();
    expect(logs).toEqual([]);
  });

  it("is told twenty times at most, and not by the next program", async () => {
    const flood = "async () => { for (let i = 0; i < 1000; i++) Promise.reject(i); }";
    const { logs } = await report(pool, flood);
    expect(logs).toHaveLength(20);
    expect((await report(pool, "async () => 1")).logs).toEqual([]);
  });
});
