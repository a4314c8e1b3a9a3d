import { describe, expect, test } from "vitest";
import { CONNECTA, commandFolder } from "../support/command.ts";

const config = (name: string) => `import { api } from "${CONNECTA}";
  import { answer } from "./answer.mjs";
  export default { name: "${name}", connectors: [] };`;
const { start, write } = commandFolder({
  "connecta.config.mjs": config("first"),
  "answer.mjs": "export const answer = 1;",
});

const nameOf = async (url: string) => {
  const health = (await (await fetch(`${url}/health`)).json()) as { name: string };
  return health.name;
};
const listened = (times: number) => new RegExp(`(?:listening (\\S+)\\n){${times}}`);

describe("connecta dev", { timeout: 30_000 }, () => {
  test("starts again on the same port when a file beside the config changes", async () => {
    const started = start(["dev", "--port", "0"]);
    const [, url = ""] = await started.said(listened(1));
    expect(await nameOf(url)).toBe("first");
    write("connecta.config.mjs", config("second"));
    const [, again] = await started.said(listened(2));
    expect(again).toBe(url);
    expect(await nameOf(url)).toBe("second");

    write("answer.mjs", "export const answer = ;");
    await started.said(/starts again when a file changes/, "stderr");
    expect(started.stderr()).toContain("cannot be loaded: SyntaxError");
    write("answer.mjs", "export const answer = 2;");
    await started.said(listened(3));
    expect(await nameOf(url)).toBe("second");

    started.child.kill("SIGTERM");
    expect((await started.ended).code).toBe(0);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });

  test("what its deployment writes there starts nothing", async () => {
    const started = start(["dev", "--port", "0"]);
    const [, url = ""] = await started.said(listened(1));
    write("activity.jsonl", "{}\n");
    write("connecta.db", "x");
    write("connecta.config.mjs", config("third"));
    await started.said(listened(2));
    expect(await nameOf(url)).toBe("third");
    started.child.kill("SIGTERM");
    expect((await started.ended).stdout.match(/listening/g)).toHaveLength(2);
  });

  test("a server that cannot start the first time ends it with 1", async () => {
    const ended = await start(["dev", "--config", "none.mjs"]).ended;
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("the server ends with a supervisor that was killed", async () => {
    const started = start(["dev", "--port", "0"]);
    const [, url = ""] = await started.said(listened(1));
    const closed = new Promise((resolve) => started.child.stdout?.once("close", resolve));
    started.child.kill("SIGKILL");
    await closed;
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });
});
