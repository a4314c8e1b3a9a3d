// An interpreter without what the sandbox adds: what an attack does to it is the attack's control.
import { newQuickJSWASMModule, newVariant, RELEASE_SYNC } from "quickjs-emscripten";

/** What the parent asks for: a program, how long it may go on, and whether without end of stack. */
const { program, interruptMs, stackless } = await new Promise((resolve) => {
  process.once("message", resolve);
});

/** After this an interrupt handler ends a loop, if anything. */
const ORDINARY_MS = 50;

/** Pages of 64 KiB: what the binary asks for, and twice what the sandbox allows a heap. */
const PAGES = { initial: 256, maximum: 2_048 };

const wasmMemory = new WebAssembly.Memory(PAGES);
const quickjs = await newQuickJSWASMModule(newVariant(RELEASE_SYNC, { wasmMemory }));
const runtime = quickjs.newRuntime();
if (stackless) runtime.setMaxStackSize(0);
const context = runtime.newContext();
let end = 0;
runtime.setInterruptHandler(() => Date.now() > end);

/** How evaluating a source ends: with a value, a throw, or the interpreter itself broken. */
function evaluated(source, ms) {
  end = Date.now() + ms;
  try {
    const outcome = context.evalCode(source);
    if (outcome.error) return context.dump(outcome.error)?.message ?? "threw";
    const jobs = runtime.executePendingJobs();
    return jobs.error ? (context.dump(jobs.error)?.message ?? "threw") : "a value";
  } catch (error) {
    return `broken: ${error.name}`;
  }
}

/** The attack may never let this process write again: what it says has to be out before. */
const say = (report) => new Promise((resolve) => process.send(report, resolve));

await say({ step: "an ordinary loop", outcome: evaluated("for (;;);", ORDINARY_MS) });
await say({ step: "the attack begins" });
const outcome = evaluated(`(${program})()`, interruptMs);
await say({ step: "the attack ended", outcome, heapBytes: wasmMemory.buffer.byteLength });
process.disconnect();
