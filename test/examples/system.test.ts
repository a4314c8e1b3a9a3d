import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import {
  coreUsage,
  parseMounts,
  parseProcessStat,
  parsePs,
  parseResidentBytes,
  parseVmStat,
  readProcesses,
} from "../../examples/node/machine.mjs";
import { heaviest, system, systemTools } from "../../examples/node/system.mjs";
import { callTool } from "./calls.ts";

vi.mock("connecta", () => import("../../server/connectors/api.ts"));

const tools = systemTools();
const MIB = 1024 * 1024;

describe("the connector", () => {
  test("is one that the gateway accepts, and every tool of it only reads", () => {
    expect(system().id).toBe("system");
    expect(Object.keys(tools)).toEqual(["overview", "cpu", "memory", "load", "disks", "processes"]);
    for (const tool of Object.values(tools)) expect(tool.annotations.readOnlyHint).toBe(true);
  });
});

describe("readings of this machine", () => {
  test("overview holds every reading, as its schema says, with the time of the call", async () => {
    expect(await callTool(tools.overview)).toMatchObject({
      readAt: "2026-01-05T12:03:04.000Z",
      host: expect.stringMatching(/./) as string,
      cpu: { sampleMs: 200 },
      processes: expect.arrayContaining([
        expect.objectContaining({ name: expect.stringMatching(/./) as string }),
      ]) as unknown[],
    });
  });

  test.each(["cpu", "memory", "load", "disks"] as const)(
    "%s answers as its schema says",
    async (name) => {
      expect(await callTool(tools[name])).toBeTypeOf("object");
    },
  );

  test("memory adds up and the root has a disk", async () => {
    const memory = (await callTool(tools.memory)) as Record<string, number>;
    expect((memory.usedBytes ?? 0) + (memory.availableBytes ?? 0)).toBe(memory.totalBytes);
    expect(await callTool(tools.disks)).toMatchObject({
      disks: expect.arrayContaining([expect.objectContaining({ mount: "/" })]) as unknown[],
    });
  });

  test("processes gives as many as asked for, the largest first", async () => {
    const answer = await callTool(tools.processes, { sortBy: "memory", limit: 3 });
    const sizes = (answer as { processes: { memoryBytes: number }[] }).processes.map(
      ({ memoryBytes }) => memoryBytes,
    );
    expect(sizes).toHaveLength(3);
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
  });

  test("a process is told by name; its arguments and its environment are not", async () => {
    const [argument, variable] = ["argument-never-told", "variable-never-told"];
    const child = spawn(
      process.execPath,
      ["-e", "console.log(1); setInterval(() => {}, 1_000)", argument],
      { env: { VARIABLE: variable }, stdio: ["ignore", "pipe", "ignore"] },
    );
    try {
      await once(child.stdout, "data");
      const told = await readProcesses(new AbortController().signal);
      expect(told.find(({ pid }) => pid === child.pid)?.memoryBytes).toBeGreaterThan(MIB);
      expect(JSON.stringify(told)).not.toMatch(/never-told/);
      if (process.platform === "linux") {
        expect(readFileSync(`/proc/${child.pid}/cmdline`, "utf8")).toContain(argument);
        expect(readFileSync(`/proc/${child.pid}/environ`, "utf8")).toContain(variable);
      }
    } finally {
      child.kill("SIGKILL");
    }
  });

  test.each(["overview", "cpu", "processes"] as const)(
    "%s ends when its caller goes away between the samples",
    async (name) => {
      const controller = new AbortController();
      const asked = callTool(tools[name], {}, controller.signal);
      controller.abort();
      await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    },
  );
});

describe("what readings are made of", () => {
  test("use of a core is its busy share of the time between two samples", () => {
    const before = [
      { busy: 1_000, total: 10_000 },
      { busy: 0, total: 10_000 },
    ];
    const after = [
      { busy: 1_150, total: 10_200 },
      { busy: 0, total: 10_200 },
    ];
    expect(coreUsage(before, after)).toEqual({ usedPercent: 37.5, perCorePercent: [75, 0] });
    expect(coreUsage(before, before)).toEqual({ usedPercent: 0, perCorePercent: [0, 0] });
    expect(coreUsage([], [])).toEqual({ usedPercent: 0, perCorePercent: [] });
  });

  test("a disk is counted once, by its shortest mount; what is no disk is left out", () => {
    const mounts = [
      "proc /proc proc rw 0 0",
      "/dev/sda1 /etc/hosts ext4 rw 0 0",
      "/dev/sda1 / ext4 rw 0 0",
      "/dev/sda1 /var/lib/data ext4 rw 0 0",
      "/dev/sdb1 /media/two\\040words vfat rw 0 0",
      "server:/share /mnt/share nfs4 rw 0 0",
      "/dev/loop1 /snap/one squashfs ro 0 0",
      "overlay /var/lib/docker/overlay2/x/merged overlay rw 0 0",
    ].join("\n");
    expect(parseMounts(mounts).map(({ mount, fileSystem }) => `${mount} ${fileSystem}`)).toEqual([
      "/ ext4",
      "/media/two words vfat",
    ]);
    expect(parseMounts("overlay / overlay rw 0 0")).toHaveLength(1);
    expect(parseMounts("")).toEqual([]);
  });

  test("a process may have brackets and blanks in its name", () => {
    const rest = "S 1 1 1 0 -1 4194560 10 0 0 0 70 30 0 0 20 0 11 0 4711 1000 250 1";
    expect(parseProcessStat(`42 (a) (b c)) ${rest}`)).toEqual({
      name: "a) (b c)",
      ticks: 100,
      startedAt: 4711,
    });
    expect(parseProcessStat("")).toBeUndefined();
  });

  test("resident memory is in the status of a process and not in that of a kernel thread", () => {
    expect(parseResidentBytes("Name:\tnode\nVmRSS:\t    2048 kB\n")).toBe(2 * MIB);
    expect(parseResidentBytes("Name:\tkthreadd\n")).toBe(0);
  });

  test("ps of other systems is read, with names that are paths or hold blanks", () => {
    const text = "    1   0.0   1024 launchd\n  77  12.5 204800 Some Helper \nbroken\n";
    expect(parsePs(`${text}   99 100.0  2048 /usr/libexec/thing\n`)).toEqual([
      { pid: 1, name: "launchd", cpuPercent: 0, memoryBytes: MIB },
      { pid: 77, name: "Some Helper", cpuPercent: 12.5, memoryBytes: 200 * MIB },
      { pid: 99, name: "thing", cpuPercent: 100, memoryBytes: 2 * MIB },
    ]);
  });

  test("macOS has available what is free, inactive, speculative or purgeable", () => {
    const text = [
      "Mach Virtual Memory Statistics: (page size of 16384 bytes)",
      "Pages free:                               10.",
      "Pages active:                            500.",
      "Pages inactive:                           20.",
      "Pages speculative:                         3.",
      "Pages wired down:                        400.",
      "Pages purgeable:                           1.",
    ].join("\n");
    expect(parseVmStat(text)).toBe(34 * 16_384);
  });

  test("the heaviest are sorted by one measure, with the other breaking ties", () => {
    const process = (pid: number, cpuPercent: number, memoryBytes: number) => ({
      pid,
      name: `p${pid}`,
      cpuPercent,
      memoryBytes,
    });
    const all = [process(1, 0, 5), process(2, 9, 1), process(3, 0, 7), process(4, 1, 7)];
    expect(heaviest(all, "cpu", 3).map(({ pid }) => pid)).toEqual([2, 4, 3]);
    expect(heaviest(all, "memory", 9).map(({ pid }) => pid)).toEqual([4, 3, 1, 2]);
    expect(all.map(({ pid }) => pid)).toEqual([1, 2, 3, 4]);
  });
});
