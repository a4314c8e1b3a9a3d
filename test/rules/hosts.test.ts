import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fromMcpServers } from "../../server/node/index.ts";
import { ROOT } from "./tree.ts";

const PAGE = readFileSync(`${ROOT}documentation/hosts.md`, "utf8");

const ENDPOINT = "http://127.0.0.1:8787/mcp";
const FOLDER = "/path/to/my-connecta";
const STDIO = ["--no-install", "--prefix", FOLDER, "connecta", "stdio", "--config"];
const ARGS = [...STDIO, `${FOLDER}/connecta.config.mjs`];
const REMOTE = ["-y", "mcp-remote", ENDPOINT];

/** The blocks below the heading of one host. */
function blocks(host: string): readonly { readonly language: string; readonly text: string }[] {
  const [, rest = ""] = PAGE.split(`\n## ${host}\n`);
  const [section = ""] = rest.split("\n## ");
  return [...section.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
}

/** The words of a command as a shell parts them; it must know each of them without running it. */
function words(command: string): readonly string[] {
  const printed = execFileSync("sh", ["-euc", `set -f; printf '%s\\n' ${command}`], {
    encoding: "utf8",
  });
  return printed.trimEnd().split("\n");
}

const Extensions = z.strictObject({
  extensions: z.strictObject({
    connecta: z.discriminatedUnion("type", [
      z.strictObject({
        type: z.literal("streamable_http"),
        enabled: z.literal(true),
        name: z.literal("connecta"),
        uri: z.literal(ENDPOINT),
        timeout: z.int(),
      }),
      z.strictObject({
        type: z.literal("stdio"),
        enabled: z.literal(true),
        name: z.literal("connecta"),
        cmd: z.literal("npx"),
        args: z.array(z.string()),
        timeout: z.int(),
      }),
    ]),
  }),
});

/** Reads YAML with the runtime that our own packages bring. */
function yaml(text: string): unknown {
  const read = "console.log(JSON.stringify(Bun.YAML.parse(process.argv[1])))";
  const bun = `${ROOT}node_modules/.bin/bun`;
  return JSON.parse(execFileSync(bun, ["-e", read, text], { encoding: "utf8" }));
}

describe("what a host is to be given", () => {
  test("each host that is named has its blocks", () => {
    const hosts = [...PAGE.matchAll(/^## (.+)$/gm)].map(([, name = ""]) => [
      name,
      blocks(name).map(({ language }) => language),
    ]);
    expect(hosts).toEqual([
      ["Claude Desktop", ["json", "json"]],
      ["Claude Code", ["sh", "sh"]],
      ["Cursor", ["json", "json"]],
      ["VS Code", ["json", "json"]],
      ["Goose", ["yaml", "yaml"]],
      ["ChatGPT", ["text"]],
      ["MCP Inspector", ["sh", "sh"]],
    ]);
  });

  test.each([
    [
      "Claude Desktop",
      "mcpServers",
      [
        { command: "npx", args: ARGS },
        { command: "npx", args: REMOTE },
      ],
    ],
    ["Cursor", "mcpServers", [{ url: ENDPOINT }, { command: "npx", args: ARGS }]],
    [
      "VS Code",
      "servers",
      [
        { type: "http", url: ENDPOINT },
        { type: "stdio", command: "npx", args: ARGS },
      ],
    ],
  ])("%s: files that its readers take, ours among them", (host, key, servers) => {
    const texts = blocks(host).map(({ text }) => text);
    expect(texts.map((text): unknown => JSON.parse(text))).toEqual(
      servers.map((server) => ({ [key]: { connecta: server } })),
    );
    for (const text of texts) {
      // A connector cannot be called as programs call the gateway itself.
      const { connectors, warnings } = fromMcpServers(text.replace('"connecta": {', '"other": {'));
      expect(connectors.map(({ id }) => id)).toEqual(["other"]);
      expect(warnings).toEqual([]);
    }
  });

  test.each([
    ["Claude Code", ["claude", "mcp", "add", "--transport", "http", "connecta", ENDPOINT]],
    ["Claude Code", ["claude", "mcp", "add", "connecta", "--", "npx", ...ARGS]],
    [
      "MCP Inspector",
      ["npx", "@modelcontextprotocol/inspector", "--transport", "http", "--server-url", ENDPOINT],
    ],
    ["MCP Inspector", ["npx", "@modelcontextprotocol/inspector", "--", "npx", ...ARGS]],
  ])("%s: a command that a shell takes apart as it is meant", (host, command) => {
    expect(blocks(host).map(({ text }) => words(text))).toContainEqual(command);
  });

  test("Goose: YAML of its two kinds of extensions", () => {
    const [http, stdio] = blocks("Goose").map(({ text }) => Extensions.parse(yaml(text)));
    expect(http?.extensions.connecta.type).toBe("streamable_http");
    expect(stdio?.extensions.connecta).toMatchObject({ type: "stdio", args: ARGS });
  });

  test("ChatGPT: an address that the internet could reach", () => {
    const [block] = blocks("ChatGPT");
    const { protocol, pathname } = new URL(block?.text.trim() ?? "");
    expect([protocol, pathname]).toEqual(["https:", "/mcp"]);
  });
});
