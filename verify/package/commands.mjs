import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM } from "./deployment.mjs";

/** What each command of the installed package has to do, by its name in `connecta --help`. */
const COMMANDS = { tools, stdio, run, search, call, init, doctor };

/**
 * A check for every command that the package has.
 * @param installed the package
 */
export async function commandChecks(installed) {
  const help = await installed.connecta(["--help"]);
  return Object.entries(COMMANDS)
    .filter(([name]) => new RegExp(`^ +(?:connecta )?${name}\\b`, "m").test(help))
    .map(([name, check]) => [`npx connecta ${name}`, check]);
}

async function tools(installed) {
  assert.match(await installed.connecta(["tools", "--json"]), /"double"/);
}

async function stdio({ folder }) {
  const args = ["--no-install", "--prefix", folder, "connecta", "stdio"];
  const config = join(folder, "connecta.config.mjs");
  const child = spawn("npx", [...args, "--config", config], {
    cwd: join(folder, ".."),
    stdio: "pipe",
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const lines = [];
  const answered = new Promise((resolve) => {
    let rest = "";
    child.stdout.on("data", (chunk) => {
      const parts = `${rest}${chunk}`.split("\n");
      rest = parts.pop();
      lines.push(...parts);
      if (lines.length >= 2) resolve();
    });
  });
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  say({
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "check", version: "1" },
    },
  });
  say({ method: "notifications/initialized" });
  say({
    id: 2,
    method: "tools/call",
    params: { name: "execute_code", arguments: { code: PROGRAM } },
  });
  await Promise.race([answered, ended]);
  child.stdin.end();
  assert.equal(await ended, 0);
  // Every line is a message: one of anything else would end a host's connection.
  const messages = lines.map((line) => JSON.parse(line));
  assert.equal(messages.find(({ id }) => id === 2).result.structuredContent.result, 42);
}

async function run(installed) {
  installed.write("program.js", PROGRAM);
  const output = await installed.connecta(["run", "program.js", "--view", "view.html"]);
  assert.equal(
    JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)).result,
    42,
  );
  assert.match(installed.read("view.html"), /<p>42<\/p>|\\u003cp>42|&lt;p&gt;42/);
}

async function search(installed) {
  assert.match(
    await installed.connecta(["search", "double a number", "--explain"]),
    /numbers\.double/,
  );
}

async function call(installed) {
  assert.match(await installed.connecta(["call", "numbers.double", '{"value":21}']), /42/);
}

async function init(installed) {
  const folder = mkdtempSync(join(installed.folder, "new-"));
  await installed.connecta(["init", folder]);
  assert.ok(readdirSync(folder).includes("connecta.config.mjs"));
  await installed.connecta(["tools", "--config", join(folder, "connecta.config.mjs")]);
  const again = await installed.connecta(["init", folder], 1);
  assert.doesNotMatch(again, /^ {4}at /m);
}

async function doctor(installed) {
  await installed.connecta(["doctor"]);
}
