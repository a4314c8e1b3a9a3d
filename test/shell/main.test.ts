import { expect, test } from "vitest";

test("the page says what it is for where nothing embeds it, and draws nothing else", async () => {
  expect(window.parent).toBe(window);
  await import("../../shell/src/main.ts");
  expect(document.body.textContent).toBe("This page is shown by an MCP host.");
  expect([...document.body.querySelectorAll("*")].map(({ localName }) => localName)).toEqual([
    "main",
    "p",
  ]);
});
