import { expect, test } from "vitest";
import { answers, fails } from "../suites/executor/case.ts";
import { gateway } from "./support.ts";

// What documentation/programs.md says of Workers, as far as it shows without the platform's limits.

test("a program that recurses without end meets the engine's limit, which it can catch", async () => {
  const { run } = gateway("default");
  const code = "const f = () => f() + 1; return f()";
  fails({ code: "program_error", message: expect.stringContaining("RangeError") })(await run(code));
  answers("caught")(await run("const f = () => f() + 1; try { f() } catch { return 'caught' }"));
});

test("a program that waits for what can never settle ends at its deadline, with its logs", async () => {
  const { run } = gateway("brief");
  const answer = await run("console.log('waits'); await new Promise(() => {}); return 1");
  fails({ code: "executor_timeout", retryable: false }, { logs: "waits" })(answer);
});

test("no text becomes code", async () => {
  const { run } = gateway("default");
  const code =
    "return [() => eval('1'), () => Function('return 1')()].map((f) => { try { return f() } catch (e) { return e.name } })";
  answers(["EvalError", "EvalError"])(await run(code));
});

test("nothing of the executor's own code is in scope, and no this and no arguments of it", async () => {
  const { run } = gateway("default");
  const names =
    "__dispatchers __connectors __logs __stringifyForCodemode __parseForCodemode WorkerEntrypoint " +
    "CodeExecutor __bytesToBase64 __CODEMODE_BINARY_TAG";
  const kinds = names.split(" ").map((name) => `typeof ${name}`);
  const code = `return [this === undefined, ...new Set([${kinds}]), connecta.nothing === undefined]`;
  answers([true, "undefined", true])(await run(`() => { ${code} }`));
});
