import {
  McpUiHostContextSchema,
  McpUiInitializeResultSchema,
  McpUiToolResultNotificationSchema,
} from "@modelcontextprotocol/ext-apps";
import { expect, test } from "vitest";
import { mergeArguments } from "../../shell/src/arguments.ts";
import * as repair from "../../shell/src/repair.ts";
import { readResult } from "../../shell/src/result.ts";
import { unwrapCall } from "../../shell/src/unwrap.ts";

const ROUNDS = 2_000;

/** Random values that repeat for the same seed. */
function generator(seed: number) {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const pick = <T>(items: readonly T[]): T => items[next(items.length)] as T;
  return { next, pick };
}

const NAMES = `theme styles variables css displayMode availableDisplayModes height
  containerDimensions maxHeight safeAreaInsets top toolInfo tool locale hostInfo name version
  hostCapabilities serverTools hostContext platform content type text structuredContent isError
  _meta connecta/ui html reads address fixedArgs viewArgs ok data error code message result
  toolResult status protocolVersion --font-sans __proto__ ui`.split(/\s+/);
const WORDS = "text dark system inline fullscreen 75vh error image </script> var(--x)".split(" ");
const NUMBERS = [0, -1, 1.5, Number.NaN, Infinity, 10n];
const ATOMS = [null, undefined, true, false, "", new Date(0), ...NUMBERS, ...WORDS];

function valueOf({ next, pick }: ReturnType<typeof generator>, depth = 0): unknown {
  const kind = depth > 4 ? 0 : next(4);
  if (kind === 0) return pick(ATOMS);
  const size = next(5);
  const self = { next, pick };
  if (kind === 1) return Array.from({ length: size }, () => valueOf(self, depth + 1));
  const object: Record<string, unknown> = {};
  for (let index = 0; index < size; index++) {
    const value = valueOf(self, depth + 1);
    const descriptor = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, pick(NAMES), descriptor);
  }
  return object;
}

test("whatever a host says, the official schemas accept what is left of it", () => {
  const random = generator(20_260_126);
  const result = McpUiToolResultNotificationSchema.shape.params;
  let refusedAsGiven = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const given = valueOf(random);
    if (!McpUiHostContextSchema.safeParse(given).success) refusedAsGiven++;
    const verdicts = [
      McpUiHostContextSchema.safeParse(repair.repairHostContext(given)),
      McpUiInitializeResultSchema.safeParse(repair.repairInitializeResult(given)),
      result.safeParse(repair.repairToolResult(given)),
      result.safeParse(repair.repairCallResult(given)),
    ];
    expect(verdicts.map(({ success }) => success)).toEqual([true, true, true, true]);
  }
  expect(refusedAsGiven).toBeGreaterThan(ROUNDS / 4);
});

test("whatever a result holds, it means one known state or nothing", () => {
  const random = generator(7);
  const seen = new Set<string>();
  for (let round = 0; round < ROUNDS * 5; round++) {
    const given = repair.repairToolResult(valueOf(random));
    seen.add(readResult(given)?.state ?? "nothing");
    const outcome = unwrapCall(given);
    if (outcome.ok) continue;
    expect(outcome.error.code).toMatch(/^[a-z_]+$/);
    expect(typeof outcome.error.message).toBe("string");
    expect(typeof outcome.error.retryable).toBe("boolean");
  }
  const known = ["dropped", "failed", "malformed", "none", "nothing", "refused", "view"];
  expect(known).toEqual(expect.arrayContaining([...seen]));
  expect(seen.size).toBeGreaterThan(3);
});

test("whatever a view supplies, only declared names with plain JSON get through", () => {
  const random = generator(11);
  const binding = { address: "a.b", fixedArgs: { ok: true }, viewArgs: ["html", "text", "data"] };
  let accepted = 0;
  for (let round = 0; round < ROUNDS * 5; round++) {
    const merged = mergeArguments(binding, valueOf(random));
    if (!merged.ok) continue;
    accepted++;
    expect(["ok", "html", "text", "data"]).toEqual(
      expect.arrayContaining(Object.keys(merged.value)),
    );
    expect(merged.value.ok).toBe(true);
    const json = JSON.stringify(merged.value);
    expect(json).not.toContain("__proto__");
    expect(Object.keys(JSON.parse(json))).toEqual(Object.keys(merged.value));
  }
  expect(accepted).toBeGreaterThan(100);
});
