import { afterAll, beforeAll, expect, test } from "vitest";
import { fixtureGateway, programs, type Fixture } from "../support/gateway.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = fixtureGateway();
});
afterAll(() => fixture.connecta.close());

const { error } = programs(() => fixture);

test("E5: an overflow that was caught dresses no other error as a memory limit", async () => {
  const dressed = await error(
    `let p; const f = () => f() + 1;
    try { f() } catch (e) { p = Object.getPrototypeOf(e) }
    throw Object.setPrototypeOf(new Error("out of memory"), p)`,
  );
  expect(["program_error", "executor_limit"]).toContain(dressed.code);
  expect(dressed.limit).not.toBe("memory");
});

test("E5: control: an overflow that nobody caught is the stack's limit", async () => {
  expect(await error("const f = () => f() + 1; return f()")).toMatchObject({
    code: "executor_limit",
    limit: "stack",
  });
});
