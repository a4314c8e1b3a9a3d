import { describe, expect, test } from "vitest";
import type { Invoked } from "../../server/invoke/invoke.ts";
import { shape, type ResultMode } from "../../server/invoke/shape.ts";
import { Stash } from "../../server/invoke/stash.ts";
import type { Connector, ToolResult } from "../../server/shared/contracts.ts";
import { testScope } from "../support/scope.ts";

function invokedOf(result: ToolResult, kind: Connector["kind"] = "api"): Invoked {
  const connector = { id: "crm", kind };
  return { connector, tool: { name: "read" }, result, attempts: 1 } as unknown as Invoked;
}

function shaped(result: ToolResult, mode?: ResultMode, kind?: Connector["kind"]) {
  return shape(invokedOf(result, kind), { mode, fields: undefined }, new Stash(), testScope());
}

const value = (text: string): ToolResult => ({ kind: "value", value: text });
const text = (length: number) => ({ type: "text", text: "x".repeat(length) });
const image = (length: number) => ({
  type: "image",
  data: "A".repeat(length),
  mimeType: "image/png",
});

describe("the inline bound", () => {
  test("I5: 50,000 bytes of JSON are handed over, one more is announced", async () => {
    expect(await shaped(value("x".repeat(49_998)))).toMatchObject({
      value: { envelope: { ok: true, data: "x".repeat(49_998) } },
    });
    expect(await shaped(value("x".repeat(49_999)))).toMatchObject({
      value: { envelope: { truncated: true, totalBytes: 49_999 } },
    });
  });

  test("I5: text and structured content count together, pictures do not", async () => {
    const half = { kind: "mcp", content: [text(30_000)], structuredContent: { n: 1 } } as const;
    expect(await shaped(half, "mcp")).toMatchObject({ value: { kind: "mcp" } });
    const both = { ...half, structuredContent: { t: "y".repeat(30_000) } };
    expect(await shaped(both, "mcp")).toMatchObject({ value: { envelope: { truncated: true } } });
    const picture = { kind: "mcp", content: [image(400_000)] } as const;
    expect(await shaped(picture, "mcp")).toMatchObject({ value: { content: [image(400_000)] } });
  });

  test("I5: the pictures of a long result stay, its text is announced", async () => {
    const result = { kind: "mcp", content: [text(60_000), image(8)] } as const;
    expect(await shaped(result, "mcp")).toMatchObject({
      value: { envelope: { truncated: true, totalBytes: 60_000 }, blocks: [image(8)] },
    });
  });

  test("I5: what is announced is whole: text that says more than the structure, and links, are in it", async () => {
    const structuredContent = { rows: "y".repeat(60_000) };
    const told = async (content: readonly { type: string }[]) => {
      const stash = new Stash();
      const result = { kind: "mcp", content, structuredContent } as const;
      const options = { mode: "mcp", fields: undefined } as const;
      const done = await shape(invokedOf(result), options, stash, testScope());
      if (!done.ok || done.value.kind !== "envelope") throw new Error("not announced");
      const { resultId } = done.value.envelope as { resultId: string };
      const page = stash.page(resultId, 0, 1_000_000, testScope());
      return page.ok ? (JSON.parse(page.value.text) as unknown) : undefined;
    };
    const json = { type: "text", text: JSON.stringify(structuredContent) };
    const prose = { type: "text", text: "One row." };
    const link = { type: "resource_link", uri: "https://a.example/x", name: "x" };
    expect(await told([])).toEqual(structuredContent);
    expect(await told([json])).toEqual(structuredContent);
    expect(await told([prose])).toEqual({ content: [prose], structuredContent });
    expect(await told([json, link])).toEqual({ content: [json, link], structuredContent });
  });

  test.each(["value", "mcp"] as const)(
    "I5: a structure of megabytes is announced whole in %s mode, and others have turns meanwhile",
    async (mode) => {
      const rows = Array.from({ length: 60_000 }, (_, id) => ({ id, name: `row ${id} é` }));
      const result = { kind: "mcp", content: [], structuredContent: { rows } } as const;
      const stash = new Stash();
      let turns = 0;
      const counting = setInterval(() => turns++, 0);
      const options = { mode, fields: undefined };
      const done = await shape(invokedOf(result), options, stash, testScope());
      clearInterval(counting);
      expect(turns).toBeGreaterThan(0);
      if (!done.ok || done.value.kind !== "envelope") throw new Error("not announced");
      const { resultId } = done.value.envelope as { resultId: string };
      const page = stash.page(resultId, 0, 10_000_000, testScope());
      expect(page.ok && page.value.text).toBe(JSON.stringify({ rows }));
    },
  );

  test("I5: pictures over 8 MiB in all are too large", async () => {
    const result = { kind: "mcp", content: [image(5_000_000), image(5_000_000)] } as const;
    expect(await shaped(result, "mcp")).toMatchObject({ failure: { code: "result_too_large" } });
  });

  test("I3: a long error stays an error", async () => {
    const result = { kind: "mcp", content: [text(60_000)], isError: true } as const;
    expect(await shaped(result, "mcp")).toMatchObject({
      failure: { code: "connector_call_failed" },
    });
  });
});

describe("modes", () => {
  test("I3: an mcp connector's blocks pass through unless values are asked for", async () => {
    const result = { kind: "mcp", content: [text(3)] } as const;
    expect(await shaped(result, undefined, "mcp")).toMatchObject({
      value: { kind: "mcp", content: [text(3)] },
    });
    expect(await shaped(result, "value", "mcp")).toMatchObject({
      value: { envelope: { data: "xxx" } },
    });
  });

  test("I7: blocks of every kind pass through unchanged and in order", async () => {
    const content = [
      text(1),
      image(4),
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource_link", uri: "https://a.example/x", name: "x" },
      { type: "resource", resource: { uri: "file:///x", text: "t" } },
    ];
    expect(await shaped({ kind: "mcp", content }, "mcp")).toMatchObject({ value: { content } });
  });
});
