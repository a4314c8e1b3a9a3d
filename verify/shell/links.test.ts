import type { Frame } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as results from "./results.ts";
import { Stage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const SHADOW = `<div id="host"><button type="button" id="slotted">in a slot</button></div><script>
  host.attachShadow({ mode: "open" }).innerHTML = '<a href="HREF"><slot></slot></a>';
</script>`;
const AREA = `<img usemap="#map" width="100" height="100" alt="" id="picture"
  src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">
  <map name="map"><area href="HREF" shape="default" alt="all of it"></map>`;
const SVG = `<svg width="100" height="100"><a href="HREF"><rect id="shape" width="100" height="100"/></a></svg>`;
const OLD_SVG = `<svg width="100" height="100"><a xlink:href="HREF"><rect id="shape" width="100" height="100"/></a></svg>`;
const NAMED = `<a name="here"><b id="named">an anchor that leads nowhere</b></a>`;
const FAR = `<div style="height:3000px"></div><h2 id="far">Far</h2>`;

const LINKS: [string, string, string][] = [
  ["around a slot of a shadow tree", SHADOW, "#slotted"],
  ["in an image map", AREA, "#picture"],
  ["in a drawing", SVG, "#shape"],
  ["in a drawing of the old kind", OLD_SVG, "#shape"],
];

async function open(html: string): Promise<Frame> {
  const opened = await stage.open({ result: results.viewResult(html + FAR) });
  const inner = await opened.inner();
  await inner.evaluate("window.kept = true");
  return inner;
}

describe("a link", () => {
  test.each(LINKS)("%s scrolls and keeps the document", async (_, html, target) => {
    const inner = await open(html.replaceAll("HREF", "#far"));
    await inner.click(target);
    await expect.poll(() => inner.evaluate(() => window.scrollY)).toBeGreaterThan(1_000);
    expect(await inner.evaluate("window.kept")).toBe(true);
  });

  test.each(LINKS)("%s that leads away does nothing", async (_, html, target) => {
    const inner = await open(html.replaceAll("HREF", "https://example.invalid/"));
    await inner.click(target);
    await inner.click(target, { button: "middle" });
    expect(await inner.evaluate(() => document.querySelector("h2")?.textContent)).toBe("Far");
    expect(await inner.evaluate("window.kept")).toBe(true);
  });

  test("inside another is the one that counts", async () => {
    const inner = await open(SHADOW.replaceAll("HREF", "#far"));
    await inner.evaluate(() => {
      const outer = document.createElement("a");
      outer.href = "https://example.invalid/";
      const host = document.querySelector("#host");
      host?.replaceWith(outer);
      if (host) outer.append(host);
    });
    await inner.click("#slotted");
    await expect.poll(() => inner.evaluate(() => window.scrollY)).toBeGreaterThan(1_000);
    expect(await inner.evaluate("window.kept")).toBe(true);
  });

  test("without a target leaves the click to the program", async () => {
    const inner = await open(NAMED);
    const prevented = await inner.evaluate(
      () =>
        new Promise((resolve) => {
          addEventListener("click", (event) => resolve(event.defaultPrevented));
          document.querySelector<HTMLElement>("#named")?.click();
        }),
    );
    expect(prevented).toBe(false);
  });

  test("in a closed shadow tree is out of sight: following it loses the view, and only that", async () => {
    const away = SHADOW.replace("open", "closed").replaceAll("HREF", `${stage.origin}/away`);
    const opened = await stage.open({ result: results.viewResult(away) });
    const inner = await opened.inner();
    await inner.evaluate("window.kept = true");
    const framed = opened.shell().locator("iframe");
    await inner.click("#slotted");
    await expect.poll(() => inner.evaluate("window.kept").catch(() => "gone")).not.toBe(true);
    expect(await framed.count()).toBe(1);
    expect(stage.requests).not.toContain("/away");
  });
});
