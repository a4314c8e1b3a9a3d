import { describe, expect, test } from "vitest";
import { commandFolder } from "../support/command.ts";

const { run } = commandFolder();

const COMMANDS = [
  "init",
  "serve",
  "dev",
  "stdio",
  "run",
  "call",
  "search",
  "tools",
  "doctor",
  "activity",
  "tokens",
  "tokens create",
  "tokens list",
  "tokens revoke",
  "credentials",
  "credentials list",
  "credentials set",
  "credentials test",
  "credentials remove",
  "credentials rotate",
  "credentials key",
];

describe("the help of connecta", { timeout: 30_000 }, () => {
  test("lists every command, without colour where nobody sees it", async () => {
    const { code, stdout, stderr } = await run(["--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    const listed = [...stdout.matchAll(/^ {2}([a-z]+)(?= )/gm)].map(([, name]) => name);
    const tops = COMMANDS.filter((name) => !name.includes(" "));
    expect(listed.toSorted()).toEqual(tops.toSorted());
    expect(stdout).not.toContain("\u001b");
  });

  test.each(COMMANDS)("%s has its own, and refuses what it does not know", async (command) => {
    const words = command.split(" ");
    const { code, stdout, stderr } = await run([...words, "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`Usage: connecta ${command} `);
    const refused = await run([...words, "--colour"]);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toMatch(/^connecta: connecta [^\n]+\n$/);
  });

  test("a word that is nearly a command is told what was meant", async () => {
    const { code, stderr } = await run(["docter"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^connecta: connecta has no command docter \(.+\)\. Did you mean doctor\?\n$/,
    );
  });
});
