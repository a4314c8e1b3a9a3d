import guestSource from "./guest.ts?travel";
import type { Instance } from "./engine.ts";
import { captureImage, type Image } from "./image.ts";
import { PRELUDE_MS, type Setup } from "./setup.ts";
import { Vm, type Anatomy, type Value } from "./vm.ts";

/** Functions lent to the bridge, in the order of its parameters; ids count from 1. */
export const LENT = ["call", "log", "done", "failed", "invalid", "isPromise"] as const;

const CONTROL = [
  "install",
  "seal",
  "run",
  "take",
  "settle",
  "fail",
  "invalid",
  "unhandled",
] as const;

/** The bridge's own functions, by name, as addresses in the prepared memory. */
export type Control = Readonly<Record<(typeof CONTROL)[number], Value>>;

/** A guest in which providers and preludes stand and no program has run yet. */
export interface Prepared {
  readonly image: Image;
  readonly anatomy: Anatomy;
  readonly control: Control;
  /** What the memory of a run may grow to. */
  readonly heapBytes: number;
  /** Whether a prelude reads the texts that host functions answer. */
  readonly reads: boolean;
}

/** Console characters kept per run, so that logging is no way to fill the server's memory. */
const LOG_CHARACTERS = 16_000;

/** QuickJS stacks outside these bounds hold no program, or overflow the process's own stack. */
const STACK_BYTES = { least: 64 * 1024, most: 256 * 1024 };

/**
 * Builds runtime, context and bridge in a fresh instance, evaluates the preludes and captures the
 * memory. The instance is used up. Answers a sentence when a prelude fails.
 */
export function prepare(instance: Instance, setup: Setup): Prepared | string {
  const started = performance.now();
  let problem: string | undefined;
  const vm = new Vm(instance, {
    called(id, [, , text = vm.undefined, length = vm.undefined]) {
      const refusal = "A prelude cannot make host calls while it is evaluated.";
      if (LENT[id - 1] === "call") return vm.string(Buffer.from(refusal)) ?? "undefined";
      if (LENT[id - 1] !== "failed") return "undefined";
      const seen = vm.withText(text, vm.toNumber(length), (bytes) => {
        problem ??= Buffer.from(bytes).toString();
      });
      return seen === "unfit" ? "true" : "undefined";
    },
    interrupted: () => performance.now() - started > PRELUDE_MS,
  });
  vm.limitStack(STACK_BYTES.most);
  const control = startBridge(vm);
  const providers = vm.string(Buffer.from(JSON.stringify(setup.providers))) ?? vm.undefined;
  vm.invoke(control.install, [providers]);
  for (const { prelude } of setup.providers) {
    if (prelude === undefined) continue;
    const outcome = vm.evaluate(Buffer.from(prelude), "prelude.js");
    if (outcome?.threw) vm.invoke(control.fail, [outcome.value]);
  }
  const late = () => performance.now() - started > PRELUDE_MS;
  vm.runJobs(late);
  if (late()) problem ??= `the preludes took longer than ${PRELUDE_MS} ms`;
  if (problem !== undefined) return problem;
  const reads = vm.toNumber(vm.invoke(control.seal, []).value) === 1;
  const { limits } = setup;
  vm.limitStack(Math.min(STACK_BYTES.most, Math.max(STACK_BYTES.least, limits.stackBytes)));
  const { heapBytes } = limits;
  return { image: captureImage(vm.heap), anatomy: vm.anatomy, control, heapBytes, reads };
}

function startBridge(vm: Vm): Control {
  const guest = vm.evaluate(Buffer.from(`(${guestSource})`), "bridge.js");
  if (guest === undefined || guest.threw) throw new Error("The bridge does not evaluate.");
  const lent = LENT.map((_, id) => vm.lend(id + 1));
  const parts = vm.invoke(guest.value, [...lent, vm.number(LOG_CHARACTERS)]);
  if (parts.threw) throw new Error("The bridge does not start.");
  const part = (name: (typeof CONTROL)[number]) => vm.element(parts.value, CONTROL.indexOf(name));
  return {
    install: part("install"),
    seal: part("seal"),
    run: part("run"),
    take: part("take"),
    settle: part("settle"),
    fail: part("fail"),
    invalid: part("invalid"),
    unhandled: part("unhandled"),
  };
}
