import { beforeEach, describe, expect, test } from "vitest";
import { Stage } from "../../shell/src/stage.ts";

let stage: Stage;
beforeEach(() => {
  document.head.replaceChildren();
  document.body.replaceChildren();
  stage = new Stage(document);
});

const HOSTILE = `<img src=x onerror="boom()"><script>boom()</script>`;
const NO_INSETS = { top: 0, right: 0, bottom: 0, left: 0 };

describe("what the shell draws", () => {
  test("is words, whatever they contain", () => {
    stage.showLine(HOSTILE, HOSTILE);
    expect(stage.root.textContent).toBe(HOSTILE + HOSTILE);
    expect(stage.root.querySelectorAll("img, script")).toHaveLength(0);
    expect([...stage.root.querySelectorAll("*")].map(({ localName }) => localName)).toEqual([
      "p",
      "code",
    ]);
  });

  test("is a few lines, however much a host sends", () => {
    stage.showLine("x".repeat(1_000_000), "c".repeat(1_000_000));
    expect(stage.root.textContent).toHaveLength(2_000 + 1 + 64 + 1);
    expect(stage.root.textContent?.endsWith("x\u2026")).toBe(true);
  });

  test("is one thing at a time", () => {
    stage.showLine("one");
    stage.showLine("two");
    expect(stage.root.textContent).toBe("two");
    stage.clear();
    expect(stage.root.childNodes).toHaveLength(0);
  });

  test("is told to people who do not see it", () => {
    stage.showLine("Running");
    expect(stage.root.querySelector("[role=status]")?.textContent).toBe("Running");
  });

  test("leaves what else stands in the page alone", () => {
    document.body.innerHTML = "<p>theirs</p>";
    const second = new Stage(document);
    second.showLine("ours");
    expect(document.body.firstElementChild?.textContent).toBe("theirs");
  });
});

describe("the fullscreen button", () => {
  const offer = (active: boolean) => {
    let toggled = 0;
    stage.offerFullscreen({ active, onToggle: () => toggled++ });
    return () => toggled;
  };

  test("says what it does, in both directions", () => {
    const entered = offer(false);
    const button = stage.root.querySelector("button");
    expect(button?.getAttribute("aria-label")).toBe("Full screen");
    button?.click();
    expect(entered()).toBe(1);
    const left = offer(true);
    expect(button?.getAttribute("aria-label")).toBe("Leave full screen");
    button?.click();
    expect([entered(), left()]).toEqual([1, 1]);
  });

  test("goes away when the host withdraws it", () => {
    offer(false);
    stage.offerFullscreen(undefined);
    expect(stage.root.querySelector("button")).toBeNull();
  });
});

describe("the layout", () => {
  test("gives the view its pixels and keeps clear of the edges that a device covers", () => {
    const frame = document.createElement("iframe");
    frame.srcdoc = "<p>view</p>";
    stage.showFrame(frame);
    stage.layOut(300, { top: 1, right: 2, bottom: 3, left: 4 });
    expect(frame.style.height).toBe("300px");
    expect(stage.root.style.padding).toBe("1px 2px 3px 4px");
    stage.layOut(undefined, NO_INSETS);
    expect(frame.style.height).toBe("");
    expect(stage.root.classList.contains("connecta-full")).toBe(true);
    stage.layOut(200, NO_INSETS);
    expect(stage.root.classList.contains("connecta-full")).toBe(false);
  });
});
