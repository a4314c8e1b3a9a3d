import { afterEach, describe, expect, test, vi } from "vitest";

const load = async (html: string | undefined, version = 7) => {
  vi.resetModules();
  vi.doMock("virtual:connecta-shell", () => ({ default: html, version }));
  return import("../../server/view/shell.ts");
};
afterEach(() => {
  vi.doUnmock("virtual:connecta-shell");
});

describe("the shell as a resource", () => {
  test("U5, G5: is one text item with the exact type, no csp and no domain", async () => {
    const { readShell } = await load("<!doctype html><title>built</title>");
    expect(readShell("ui://connecta/program-ui/v7")).toEqual({
      contents: [
        {
          uri: "ui://connecta/program-ui/v7",
          mimeType: "text/html;profile=mcp-app",
          text: "<!doctype html><title>built</title>",
          _meta: { ui: { prefersBorder: false } },
        },
      ],
    });
  });

  test.each([
    "ui://connecta/program-ui/v6",
    "ui://connecta/program-ui/v7/",
    "UI://connecta/program-ui/v7",
    "ui://connecta/program-ui",
    "file:///etc/passwd",
    "",
  ])("G5: is at no other address: %s", async (uri) => {
    const { readShell } = await load("<p>built</p>");
    expect(readShell(uri)).toBeUndefined();
  });

  test("U11: belongs to the one extension", async () => {
    expect((await load("x")).APPS_EXTENSION).toBe("io.modelcontextprotocol/ui");
  });

  test("says in words that it was not built, under the same policy", async () => {
    const { readShell, isBuilt, SHELL_URI } = await load(undefined);
    expect(isBuilt).toBe(false);
    const text = readShell(SHELL_URI)?.contents[0]?.text ?? "";
    expect(text).toContain("built without its program view");
    expect(text).toContain(
      `content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; ` +
        `img-src data: blob:; media-src data: blob:; font-src data:; connect-src 'none'; ` +
        `frame-src 'none'; object-src 'none'; form-action 'none'"`,
    );
    expect(text).not.toContain("<script");
    expect((await load("<p>built</p>")).isBuilt).toBe(true);
  });
});
