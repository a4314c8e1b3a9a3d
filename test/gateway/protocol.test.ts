import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixtureGateway, rpc, type Era, type Fixture } from "../support/gateway.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = fixtureGateway();
});
afterAll(() => fixture.connecta.close());

const ERAS: Era[] = ["legacy", "modern"];
const APPS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
const TOOLS = [
  "execute_code",
  "search_tools",
  "call_tool",
  "call_destructive_tool",
  "authorize_connector",
  "get_result",
  "skills",
];

interface Listed {
  readonly name: string;
  readonly description: string;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean };
  readonly _meta: { readonly ui: { readonly visibility: string[]; readonly resourceUri?: string } };
}

async function list(era: Era): Promise<Listed[]> {
  const { result } = await rpc(fixture.connecta, "tools/list", {}, era);
  return result.tools as Listed[];
}

describe("both protocol generations from one handler", () => {
  test("G1, G4: initialize declares exactly the Apps extension and no list changes", async () => {
    const { result } = await rpc(fixture.connecta, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    expect(result.protocolVersion).toBe("2025-11-25");
    expect(result.capabilities).toEqual({
      tools: { listChanged: false },
      resources: { listChanged: false },
      extensions: APPS,
    });
    expect((result.instructions as string).length).toBeLessThanOrEqual(1_000);
  });

  test("G1, G4: server/discover declares the same", async () => {
    const { result } = await rpc(fixture.connecta, "server/discover", {}, "modern");
    expect(result.capabilities).toEqual({
      tools: { listChanged: false },
      resources: { listChanged: false },
      extensions: APPS,
    });
    expect(result.supportedVersions).toContain("2026-07-28");
  });

  test.each(ERAS)(
    "G2, G3: %s clients get seven tools in order, with their annotations",
    async (era) => {
      const tools = await list(era);
      expect(tools.map(({ name }) => name)).toEqual(TOOLS);
      const by = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
      for (const name of TOOLS) {
        const { annotations } = by[name] as Listed;
        if (name === "call_destructive_tool") {
          expect(annotations).toEqual({ readOnlyHint: false, destructiveHint: true });
        } else if (name === "authorize_connector") {
          expect(annotations).toEqual({ readOnlyHint: false, destructiveHint: false });
        } else expect(annotations.readOnlyHint).toBe(true);
        expect(by[name]?._meta.ui.visibility).toEqual(
          name === "call_tool" ? ["model", "app"] : ["model"],
        );
        expect("resourceUri" in (by[name]?._meta.ui ?? {})).toBe(name === "execute_code");
      }
      expect(by.execute_code?._meta.ui.resourceUri).toMatch(/^ui:\/\/connecta\/program-ui\/v\d+$/);
    },
  );

  test("G8: execute_code documents both forms of connecta.ui and ends with the inventory", async () => {
    const [execute] = await list("legacy");
    expect(execute?.description).toContain("connecta.ui(html):");
    expect(execute?.description).toContain("connecta.ui(html, {reads:");
    expect(execute?.description.split("\n").at(-1)).toBe(
      "Connectors: crm, tickets-eu (tickets_eu)",
    );
  });

  test.each(ERAS)("G5: %s: only the shell can be read, listings are empty", async (era) => {
    const [execute] = await list(era);
    const uri = execute?._meta.ui.resourceUri ?? "";
    expect((await rpc(fixture.connecta, "resources/list", {}, era)).result.resources).toEqual([]);
    const templates = await rpc(fixture.connecta, "resources/templates/list", {}, era);
    expect(templates.result.resourceTemplates).toEqual([]);
    const { result } = await rpc(fixture.connecta, "resources/read", { uri }, era);
    const contents = result.contents as Record<string, unknown>[];
    expect(contents).toHaveLength(1);
    expect(contents[0]).toMatchObject({ uri, mimeType: "text/html;profile=mcp-app" });
    expect(contents[0]?._meta).toEqual({ ui: { prefersBorder: false } });
    expect(contents[0]?.text).toMatch(/^<!doctype html>/i);
    for (const other of ["ui://connecta/program-ui/v0", "ui://other/x", "file:///etc/passwd"]) {
      const { error } = await rpc(fixture.connecta, "resources/read", { uri: other }, era);
      expect(error).toMatchObject({ code: -32_602, data: { uri: other } });
    }
  });

  test.each(ERAS)(
    "%s: an unknown tool is an error that names it, and the server goes on",
    async (era) => {
      const { error } = await rpc(
        fixture.connecta,
        "tools/call",
        { name: "nope", arguments: {} },
        era,
      );
      expect(error).toMatchObject({ code: -32_602, message: "Unknown tool: nope" });
      expect(await list(era)).toHaveLength(7);
    },
  );
});

test("a name that is not ours is answered nowhere, not even by /health", async () => {
  const ask = (host: string) =>
    fixture.connecta.fetch(new Request("http://127.0.0.1:8787/health", { headers: { host } }));
  expect((await ask("evil.example")).status).toBe(403);
  expect((await ask("localhost:8787")).status).toBe(200);
});
