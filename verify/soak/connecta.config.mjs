// What the soak serves: connectors that answer, fail and look into the process that they run in.
import { readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { fileURLToPath } from "node:url";
import { api, remoteMcp, ToolError } from "connecta";
import { stdioMcp } from "connecta/node";
import { leakOf } from "./plants.mjs";

const { SOAK_FAR = "", SOAK_GONE = "", SOAK_PLANT = "" } = process.env;
const leak = leakOf(SOAK_PLANT);

setFlagsFromString("--expose_gc");
const collectGarbage = runInNewContext("gc");

const faults = [];
let waiting = 0;

const input = {
  type: "object",
  properties: { nonce: { type: "string" }, ms: { type: "integer" }, chars: { type: "integer" } },
  required: ["nonce"],
  additionalProperties: false,
};
const read = (description, handler) => ({
  description,
  inputSchema: input,
  annotations: { readOnlyHint: true },
  handler,
});

/** Resolves after some time, or rejects when the caller is gone. */
function after(ms, signal) {
  waiting++;
  return new Promise((resolve, reject) => {
    const end = (settle) => {
      waiting--;
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = () => end(() => reject(new Error("gone")));
    const timer = setTimeout(() => end(resolve), ms);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
  });
}

const desk = api({
  id: "desk",
  description: "Notes of the soak",
  usageGuide: "Every note has a nonce.",
  tools: {
    echo: read("Give the nonce back.", ({ nonce }) => {
      leak();
      return { nonce };
    }),
    slow: read("Give the nonce back, later.", async ({ nonce, ms = 100 }, { signal }) => {
      await after(ms, signal);
      return { nonce };
    }),
    big: read("A long text that ends with the nonce.", ({ nonce, chars = 60_000 }) => ({
      text: `${"é".repeat(chars)}${nonce}`,
    })),
    refuse: read("Refuse.", () => {
      throw new ToolError("There is no such note.", { code: "not_found" });
    }),
    write: {
      description: "Write a note.",
      inputSchema: input,
      annotations: { readOnlyHint: false, destructiveHint: true },
      handler: ({ nonce }) => ({ written: nonce }),
    },
  },
});

/** What outlives a request when nobody lets go of it, counted while nothing goes on. */
function state() {
  collectGarbage();
  const kinds = {};
  for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const listeners = process.eventNames().map((name) => process.listenerCount(name));
  return {
    waiting,
    timers: kinds.Timeout ?? 0,
    handles: Object.values(kinds).reduce((sum, count) => sum + count, 0),
    listeners: listeners.reduce((sum, count) => sum + count, 0),
    descriptors: readdirSync("/proc/self/fd").length,
    heapBytes: process.memoryUsage().heapUsed,
    faults,
  };
}

const inside = api({
  id: "inside",
  description: "The server's own process",
  tools: {
    state: {
      description: "What is alive.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      handler: state,
    },
  },
});

const child = stdioMcp(
  {
    id: "child",
    command: process.execPath,
    args: [fileURLToPath(new URL("downstream-stdio.mjs", import.meta.url))],
  },
  // It crashes all the time, and is wanted again at once.
  { backoffMs: 10, maxBackoffMs: 50, healthyMs: 100 },
);

export default {
  name: "soak",
  connectors: [
    desk,
    inside,
    child,
    remoteMcp({ id: "far", url: SOAK_FAR, protocol: "legacy" }),
    remoteMcp({ id: "gone", url: SOAK_GONE, protocol: "legacy" }),
  ],
  execute: { cpuMs: 100 },
  log: ({ level, message }) => {
    // Connectors fail here on purpose, which is a warning at most: an error is a fault of ours.
    if (level === "error" && faults.length < 20) faults.push(message);
  },
};
