import { memoryOf, treeOf } from "../bench/servers.mjs";

const MB = 1024 * 1024;
const PATIENCE_MS = 10_000;
const POLL_MS = 100;

/** What may not grow, by how much it may all the same, and how it is shown. */
const BOUNDS = {
  timers: { slack: 3, unit: "" },
  handles: { slack: 12, unit: "" },
  listeners: { slack: 3, unit: "" },
  descriptors: { slack: 12, unit: "" },
  processes: { slack: 0, unit: "" },
  heap: { slack: 4, unit: " MB" },
  memory: { slack: 40, unit: " MB" },
};

/**
 * Looks at a server once nothing goes on in it, and has collected its garbage.
 * @param {import("./wire.mjs").Wire} wire
 * @param {number} pid
 * @returns {Promise<{ sample: Record<string, number>, problems: string[] }>}
 */
export async function look(wire, pid, health) {
  const late = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await state(wire);
    const queues = await health();
    const busy = found.waiting > 0 || queues > 0;
    if (busy && performance.now() < late) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      continue;
    }
    const { timers, handles, listeners, descriptors, heapBytes, faults } = found;
    const heap = heapBytes / MB;
    const problems = faults.map((fault) => `the server logged a fault: ${fault}`);
    if (busy) problems.push(`${found.waiting} calls and ${queues} programs outlived their request`);
    return {
      sample: {
        ...{ timers, handles, listeners, descriptors, heap },
        processes: treeOf(pid).length,
        memory: memoryOf(pid),
      },
      problems,
    };
  }
}

async function state(wire) {
  const args = { address: "inside.state", resultMode: "value" };
  const { messages, problem } = await wire.send(`state-${performance.now()}`, "call_tool", args);
  const data = messages[0]?.result?.structuredContent?.data;
  if (!data) throw new Error(`the server does not tell its state: ${problem}`);
  return data;
}

/**
 * Compares the end of a series of samples with its begin, warm-up left out.
 * @param {Record<string, number>[]} samples
 * @returns {{ name: string, first: string, last: string, grew: boolean }[]}
 */
export function judge(samples) {
  const warm = samples.slice(Math.ceil(samples.length / 4));
  const third = Math.ceil(warm.length / 3);
  const [early, late] = [warm.slice(0, third), warm.slice(-third)];
  return Object.entries(BOUNDS).map(([name, { slack, unit }]) => {
    const of = (part) => part.map((sample) => sample[name]);
    // What leaks is always there at the end; what comes and goes was there before, or is gone.
    const [first, last] = [Math.max(...of(early)), Math.min(...of(late))];
    const shown = (value) => `${Math.round(value * 10) / 10}${unit}`;
    return { name, first: shown(first), last: shown(last), grew: last > first + slack };
  });
}
