import { describe, expect, test } from "vitest";
import { innerDocument } from "../../shell/src/document.ts";
import type { Theme } from "../../shell/src/messages.ts";

const theme: Theme = { scheme: "light", variables: {} };
const reads = { names: ["page"], render: "r1" };

describe("the inner document", () => {
  test("is doctype, charset, policy, defaults, prelude, then the program's HTML untouched", () => {
    const html = `<!-- <head> --><script>"</head>"</script><html lang=de>\r\n\u0000 ${"x".repeat(99)}`;
    const text = innerDocument(html, theme);
    expect(text.endsWith(html)).toBe(true);
    const ours = text.slice(0, -html.length);
    expect(ours).toMatch(
      /^<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; [^"]+"><style>[^<]+<\/style><script>\(function.*\)<\/script>$/s,
    );
    expect(ours.match(/<script>/g)).toHaveLength(1);
  });

  test("carries the shell's own policy, word for word", () => {
    expect(innerDocument("", theme)).toContain(
      `content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; ` +
        `img-src data: blob:; media-src data: blob:; font-src data:; connect-src 'none'; ` +
        `frame-src 'none'; object-src 'none'; form-action 'none'"`,
    );
  });

  test("V4: installs the bridge for a payload with reads only", () => {
    const plain = innerDocument("<p>", theme);
    const live = innerDocument("<p>", theme, reads);
    expect(live).toContain("MessageChannel");
    expect(live).toContain('"r1"');
    expect(plain).not.toMatch(/MessageChannel|postMessage|connecta\.read/);
  });

  test("embeds values that no HTML parser can end early", () => {
    const value = `</script><!--<script>`;
    const text = innerDocument("", { scheme: "dark", variables: { "--font-sans": value } });
    expect(text).not.toContain(value);
    expect(text.match(/<\/script>/g)).toHaveLength(1);
    expect(text).toContain("\\u003c/script>\\u003c!--\\u003cscript>");
  });

  test("sets defaults that weigh nothing", () => {
    const style = /<style>(.*?)<\/style>/s.exec(innerDocument("", theme))?.[1] ?? "";
    const selectors = [...style.matchAll(/(?:^|\})\s*([^{}]+)\{/g)].map((match) =>
      match[1]?.trim(),
    );
    expect(selectors.length).toBeGreaterThan(2);
    for (const selector of selectors) expect(selector).toMatch(/^:where\([^()]+\)$/);
    expect(style).toContain("color-scheme: light dark");
  });
});
