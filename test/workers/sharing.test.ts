import { env } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { storageActivity } from "../../server/index.ts";
import { durableStorage } from "../../server/worker/index.ts";
import { answers, eventually, seen } from "../suites/executor/case.ts";
import { readIds } from "../support/activity.ts";
import { valueOf } from "../support/catalog.ts";
import { gateway, send } from "./support.ts";

const hello = { address: "slow.hello" };

async function data(deployment: string, address: string): Promise<unknown> {
  const answer = await gateway(deployment).tool("call_tool", { address });
  return answer.structuredContent.data;
}

describe("requests that share an isolate", () => {
  test("what belongs to one cannot be used by another: sharing it is a mistake that shows", async () => {
    const naive = async (body: string) =>
      (await send("naive", new Request("http://127.0.0.1/", { method: "POST", body }))).text();
    expect(await naive("mine")).toBe("read mine");
    expect(await naive("another's")).toContain("on behalf of a different request");
  });

  test("a tool list that one began to load is there for all, although that one left", async () => {
    const leaving = new AbortController();
    const { tool } = gateway("shared-load");
    const left = tool("call_tool", hello, { signal: leaving.signal }).catch(() => "left");
    await eventually(
      () => data("shared-load", "door.loads"),
      (loads) => loads === 1,
    );
    const others = Array.from({ length: 8 }, () => tool("call_tool", hello));
    leaving.abort();
    expect(await left).toBe("left");
    await data("shared-load", "door.open");
    for (const other of await Promise.all(others)) {
      expect(other.structuredContent).toEqual({ ok: true, data: "hello" });
    }
    expect(await data("shared-load", "door.loads")).toBe(1);
  });

  test("what was deferred is done behind the answer: the list is stored, the call recorded", async () => {
    await data("shared-defer", "door.open");
    expect(await data("shared-defer", "slow.hello")).toBe("hello");
    const storage = durableStorage({ namespace: env.STORE, name: "shared-defer" });
    await eventually(
      async () => valueOf(await storage.list("catalog/1/slow/")),
      (keys) => keys.length === 1,
    );
    const activity = storageActivity({ storage });
    await eventually(
      async () => (await readIds(activity)).ids,
      (ids) => ids.length === 2,
    );
  });

  test("a caller that leaves ends its own program and no other", async () => {
    const leaving = new AbortController();
    const { run, tool } = gateway("shared-leave");
    const left = run("return probe.wait({ key: 'left' })", { signal: leaving.signal });
    const ended = left.catch(() => "left");
    const stays = run("return probe.meet({ key: 'stays', count: 2 })");
    const started = (key: string) =>
      eventually(
        () => seen(gateway("shared-leave"), key),
        (calls) => calls.started === 1,
      );
    await Promise.all([started("left"), started("stays")]);
    leaving.abort();
    await ended;
    await eventually(
      () => seen(gateway("shared-leave"), "left"),
      (calls) => calls.aborted === 1,
    );
    await tool("call_tool", { address: "probe.meet", args: { key: "stays", count: 2 } });
    answers("met")(await stays);
  });
});

describe("bursts", () => {
  test("64 clients at once, ten times over, wedge nothing", async () => {
    const { run } = gateway("default");
    for (let burst = 0; burst < 10; burst++) {
      const code = `return [await crm.echo({ burst: ${burst} }), await connecta.search({ query: "record" })].length`;
      const runs = await Promise.all(Array.from({ length: 64 }, () => run(code)));
      for (const one of runs) answers(2)(one);
    }
    answers("ran")(await run("return 'ran'"));
  });

  test("64 clients that leave in the middle, ten times over, leave every place free", async () => {
    const { run } = gateway("default");
    for (let burst = 0; burst < 10; burst++) {
      const key = `burst-${burst}`;
      const leaving = new AbortController();
      const code = `return probe.wait({ key: "${key}" })`;
      const runs = Array.from({ length: 64 }, () =>
        run(code, { signal: leaving.signal }).catch(() => "left"),
      );
      await eventually(
        () => seen(gateway("default"), key),
        ({ started }) => started === 64,
      );
      leaving.abort();
      await Promise.all(runs);
      await eventually(
        () => seen(gateway("default"), key),
        ({ aborted }) => aborted === 64,
      );
    }
    const all = `return probe.meet({ key: "all", count: 64 })`;
    for (const one of await Promise.all(Array.from({ length: 64 }, () => run(all)))) {
      answers("met")(one);
    }
  });
});
