// @ts-check
import { api } from "connecta";
import { SAMPLE_MS, readCpu, readDisks, readLoad, readMemory, readProcesses } from "./machine.mjs";

/**
 * @typedef {import("./machine.mjs").ProcessReading} ProcessReading
 * @typedef {{ signal: AbortSignal, now(): number }} CallContext
 * @typedef {{ sortBy?: "cpu" | "memory", limit?: number }} ProcessArguments
 */

const percentage = { type: "number", minimum: 0, description: "percent" };
const bytes = { type: "integer", minimum: 0, description: "bytes" };

/** @param {Record<string, unknown>} properties every one of them required */
const object = (properties) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const noArguments = { type: "object", properties: {}, additionalProperties: false };

const cpuSchema = object({
  model: { type: "string" },
  cores: { type: "integer" },
  sampleMs: { type: "integer", description: "how far apart the two samples lie" },
  usedPercent: percentage,
  perCorePercent: { type: "array", items: percentage },
});

const memorySchema = object({
  totalBytes: bytes,
  usedBytes: bytes,
  availableBytes: bytes,
  usedPercent: percentage,
});

const loadSchema = object({
  host: { type: "string" },
  platform: { type: "string" },
  release: { type: "string" },
  uptimeSeconds: { type: "integer" },
  cores: { type: "integer" },
  load: object({
    one: { type: "number", description: "average of the last minute" },
    five: { type: "number" },
    fifteen: { type: "number" },
  }),
});

const disksSchema = {
  type: "array",
  items: object({
    mount: { type: "string" },
    fileSystem: { type: "string" },
    totalBytes: bytes,
    usedBytes: bytes,
    availableBytes: bytes,
    usedPercent: percentage,
  }),
};

const processListSchema = {
  type: "array",
  items: object({
    pid: { type: "integer" },
    name: { type: "string" },
    cpuPercent: { ...percentage, description: "percent of one core" },
    memoryBytes: bytes,
  }),
};

const processesSchema = object({
  sortBy: { enum: ["cpu", "memory"] },
  total: { type: "integer" },
  processes: processListSchema,
});

const processesInput = {
  type: "object",
  properties: {
    sortBy: { enum: ["cpu", "memory"], default: "cpu" },
    limit: { type: "integer", minimum: 1, maximum: 50, default: 10 },
  },
  additionalProperties: false,
};

/**
 * The heaviest processes by one measure, the other breaking ties.
 * @param {readonly ProcessReading[]} all
 * @param {"cpu" | "memory"} sortBy
 * @param {number} limit
 */
export function heaviest(all, sortBy, limit) {
  /** @param {ProcessReading} a @param {ProcessReading} b */
  const byCpu = (a, b) => b.cpuPercent - a.cpuPercent || b.memoryBytes - a.memoryBytes;
  /** @param {ProcessReading} a @param {ProcessReading} b */
  const byMemory = (a, b) => b.memoryBytes - a.memoryBytes || b.cpuPercent - a.cpuPercent;
  return [...all].sort(sortBy === "cpu" ? byCpu : byMemory).slice(0, limit);
}

/**
 * Everything at once, both usage readings over the same span. The processes are the heaviest by
 * CPU and the heaviest by memory, so that either order of them is a true one.
 * @param {unknown} _args
 * @param {CallContext} ctx
 */
async function overview(_args, { signal, now }) {
  const [cpu, memory, disks, processes] = await Promise.all([
    readCpu(signal),
    readMemory(signal),
    readDisks(),
    readProcesses(signal),
  ]);
  const byCpu = heaviest(processes, "cpu", 8);
  const byMemory = heaviest(processes, "memory", 8);
  return {
    readAt: new Date(now()).toISOString(),
    ...readLoad(),
    cpu,
    memory,
    disks,
    processCount: processes.length,
    processes: [...new Set([...byCpu, ...byMemory])],
  };
}

/** @param {ProcessArguments} args @param {CallContext} ctx */
async function processes({ sortBy = "cpu", limit = 10 }, { signal }) {
  const all = await readProcesses(signal);
  return { sortBy, total: all.length, processes: heaviest(all, sortBy, limit) };
}

const overviewSchema = object({
  readAt: { type: "string", format: "date-time" },
  ...loadSchema.properties,
  cpu: cpuSchema,
  memory: memorySchema,
  disks: disksSchema,
  processCount: { type: "integer" },
  processes: processListSchema,
});

/** What every tool here has in common: it reads this machine and changes nothing. */
const reading = {
  inputSchema: noArguments,
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/** The tools of the `system` connector; each only reads, and none tells a command line. */
export function systemTools() {
  return {
    overview: {
      ...reading,
      title: "System overview",
      description: "CPU, memory, load, disks and the heaviest processes of this machine, in one.",
      outputSchema: overviewSchema,
      handler: overview,
    },
    cpu: {
      ...reading,
      title: "CPU use",
      description: `Busy share of each core, measured over ${SAMPLE_MS} ms.`,
      outputSchema: cpuSchema,
      /** @param {unknown} _args @param {CallContext} ctx */
      handler: (_args, { signal }) => readCpu(signal),
    },
    memory: {
      ...reading,
      title: "Memory",
      description: "Used and available memory of the machine, in bytes.",
      outputSchema: memorySchema,
      /** @param {unknown} _args @param {CallContext} ctx */
      handler: (_args, { signal }) => readMemory(signal),
    },
    load: {
      ...reading,
      title: "Load and uptime",
      description: "Load averages, uptime, host name and platform.",
      outputSchema: loadSchema,
      handler: () => readLoad(),
    },
    disks: {
      ...reading,
      title: "Disks",
      description: "Space used and left on each local disk, in bytes.",
      outputSchema: object({ disks: disksSchema }),
      handler: async () => ({ disks: await readDisks() }),
    },
    processes: {
      ...reading,
      title: "Top processes",
      description: "The heaviest processes by CPU or memory: id and name, CPU share, memory.",
      inputSchema: processesInput,
      outputSchema: processesSchema,
      handler: processes,
    },
  };
}

/** The `system` connector: what this machine is doing. */
export const system = () =>
  api({
    id: "system",
    title: "System",
    description: "Live readings of the machine that the server runs on.",
    usageGuide:
      "Everything here is read-only and local. `overview` answers it all in one call and is what " +
      "a view should refresh. Sizes are bytes; a process may use over 100 percent of one core.",
    tools: systemTools(),
  });
