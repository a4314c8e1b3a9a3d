import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { applyTheme } from "../../shell/src/theme.ts";

let root: HTMLElement;
let systemIsDark: boolean;
beforeEach(() => {
  root = document.createElement("section");
  document.body.append(root);
  systemIsDark = false;
  vi.stubGlobal("matchMedia", () => ({ matches: systemIsDark }));
  // Colours are judged by the browser; here a colour is a word of letters or a function.
  vi.stubGlobal("CSS", {
    supports: (_: string, value: string) => /^[a-z-]+(\(.*\))?$/.test(value),
  });
});
afterEach(() => {
  root.remove();
  vi.unstubAllGlobals();
});

const variables = (values: Record<string, string>) => ({ styles: { variables: values } }) as never;

describe("the theme", () => {
  test("is the host's, on the shell's root and for the view", () => {
    expect(applyTheme({ theme: "dark" }, root).scheme).toBe("dark");
    expect(root.style.getPropertyValue("color-scheme")).toBe("dark");
  });

  test("is the system's where the host names none, and always explicit", () => {
    expect(applyTheme({}, root).scheme).toBe("light");
    systemIsDark = true;
    expect(applyTheme({}, root).scheme).toBe("dark");
    expect(root.style.getPropertyValue("color-scheme")).toBe("dark");
  });
});

describe("the host's style variables", () => {
  test("stand on the root and go to the view", () => {
    const given = { "--color-text-primary": "red", "--font-sans": "Inter, sans-serif" };
    expect(applyTheme(variables(given), root).variables).toEqual(given);
    expect(root.style.getPropertyValue("--color-text-primary")).toBe("red");
  });

  test("go when the host no longer sets them", () => {
    applyTheme(variables({ "--color-text-primary": "red" }), root);
    expect(applyTheme(variables({}), root).variables).toEqual({});
    expect(root.style.getPropertyValue("--color-text-primary")).toBe("");
  });

  test.each([
    ["a colour that is none", "--color-text-primary", "12px 12px"],
    ["a reference to a page that is not here", "--font-sans", "var(--vscode-font-family)"],
    ["a value without end", "--font-sans", "x".repeat(513)],
  ])("leave the built-in value in place for %s", (_, name, value) => {
    expect(applyTheme(variables({ [name]: value }), root).variables).toEqual({});
    expect(root.style.getPropertyValue(name)).toBe("");
  });
});
