import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { copies, stages } from "./dockerfile.ts";
import { gitFiles, ROOT } from "./tree.ts";

const text = readFileSync(join(ROOT, "Dockerfile"), "utf8");
const all = stages(text);
const last = all.at(-1);
if (last === undefined) throw new Error("the Dockerfile has no stage");
const named = (name: string) =>
  last.instructions.filter((one) => one.name === name).map((one) => one.text);

describe("the Dockerfile", () => {
  test("every file that it copies from here is in git", () => {
    const files = gitFiles();
    const taken = all.flatMap((stage) => copies(stage).filter(({ from }) => from === undefined));
    const sources = taken.flatMap(({ sources }) => sources).filter((source) => source !== ".");
    expect(sources.length).toBeGreaterThan(3);
    expect(sources.filter((source) => !files.includes(source))).toEqual([]);
  });

  test("what it copies from a stage is from an earlier one, by name", () => {
    for (const [at, stage] of all.entries()) {
      const earlier = all.slice(0, at).map(({ name }) => name);
      for (const { from } of copies(stage)) expect([undefined, ...earlier]).toContain(from);
    }
  });

  test("all stages stand on one image of a Node that is supported, by a version", () => {
    expect([...new Set(all.map(({ image }) => image))]).toEqual(["node:22-alpine"]);
  });

  test("the last stage runs nothing, fetches nothing, and ends as a user without rights", () => {
    expect([...named("RUN"), ...named("ADD")]).toEqual([]);
    expect(named("USER")).toEqual(["node"]);
    const names = last.instructions.map(({ name }) => name);
    expect(names.indexOf("USER")).toBeGreaterThan(names.lastIndexOf("COPY"));
    expect(copies(last).flatMap(({ sources }) => sources)).not.toContain(".");
  });

  test("a volume at data is the server's own, since a folder of its owner lies there", () => {
    expect(text).toContain("mkdir -p /volumes/data");
    const [volumes, ...others] = copies(last).filter(({ owner }) => owner !== undefined);
    expect(others).toEqual([]);
    const [own] = named("USER");
    expect(volumes).toEqual({
      from: "packages",
      sources: ["/volumes"],
      target: "./",
      owner: `${own}:${own}`,
    });
    expect(named("WORKDIR").at(-1)).toBe("/app/deployment");
  });

  test("it says how the server is started and how it is seen to work, without a shell between", () => {
    const [start = ""] = named("ENTRYPOINT");
    expect(JSON.parse(start)).toEqual([
      "node",
      "/app/scripts/connecta.mjs",
      "serve",
      "--host",
      "0.0.0.0",
    ]);
    const [health = ""] = named("HEALTHCHECK");
    const command: unknown = JSON.parse(/CMD (\[.*\])$/.exec(health)?.[1] ?? "");
    expect(command).toEqual(["node", "-e", expect.stringContaining("/health")]);
  });

  test("no install runs scripts of packages, and the packages that stay are those of production", () => {
    const installs = text.match(/npm ci[^&\n]*/g) ?? [];
    expect(installs).toHaveLength(2);
    for (const install of installs) expect(install).toContain("--ignore-scripts");
    expect(installs.filter((install) => install.includes("--omit=dev"))).toHaveLength(1);
  });

  test("what is built, installed, stored or secret stays out of the context", () => {
    const ignored = readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n");
    for (const name of [".git", "node_modules", "dist", "**/.env*", "**/.dev.vars*", "**/*.db*"]) {
      expect(ignored).toContain(name);
    }
  });
});

describe("the reader of Dockerfiles", () => {
  test("finds stages, joined lines and copies", () => {
    const [build, end] = stages(
      "# a\nFROM a:1 AS build\nRUN one && \\\n  two\n\nFROM a:1\nCOPY --from=build /x y\nCOPY p q ./\nCOPY --from=build --chown=a:b /x y\n",
    );
    expect(build).toEqual({
      image: "a:1",
      name: "build",
      instructions: [{ name: "RUN", text: "one && two" }],
    });
    expect(end && copies(end)).toEqual([
      { from: "build", sources: ["/x"], target: "y" },
      { from: undefined, sources: ["p", "q"], target: "./" },
      { from: "build", sources: ["/x"], target: "y", owner: "a:b" },
    ]);
  });
});
