import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { findBrowser } from "../../../scripts/ensure/browser.mjs";
import { median } from "../client.mjs";
import { start } from "../servers.mjs";
import { atMost } from "../table.mjs";

const at = (name) => fileURLToPath(new URL(name, import.meta.url));
const CONNECTA = at("../../../scripts/connecta.mjs");
const CONFIG = at("../connecta.config.mjs");

const PROGRAM = `async () => {
  await connecta.ui(
    \`<button id="read">Read</button><output id="said">nothing yet</output><script>
      const said = document.getElementById("said");
      document.getElementById("read").onclick = async () => {
        const since = performance.now();
        const { id } = await connecta.read("record", {});
        said.textContent = id;
        console.debug("bench read " + (performance.now() - since));
      };
    </script>\`,
    { reads: { record: { address: "crm.get_record", fixedArgs: { id: "r7" } } } },
  );
  return 1;
}`;

/** Runs in every frame: says on the console when a message came and when something was painted. */
function watchFrame() {
  let depth = 0;
  for (let one = window; one !== one.parent; one = one.parent) depth++;
  const say = (what, time) =>
    console.debug(`bench ${what} ${depth} ${performance.timeOrigin + time}`);
  window.addEventListener("message", ({ data }) => {
    const method = data?.method ?? "";
    if (method === "ui/notifications/tool-result") say("result", performance.now());
    if (method === "ui/notifications/sandbox-resource-ready") say("html", performance.now());
  });
  const painted = new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntriesByName("first-paint")) say("paint", startTime);
  });
  painted.observe({ type: "paint", buffered: true });
}

/** A page on the host page's address that keeps what the frames say, by name. */
async function watchedPage(browser, origin) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const said = [];
  page.on("console", (message) => {
    const [mark, what, ...figures] = message.text().split(" ");
    if (mark === "bench") said.push({ what, figures: figures.map(Number) });
  });
  await page.addInitScript(watchFrame);
  await page.goto(origin);
  return { page, said };
}

/** Depths of the frames: page, sandbox proxy, shell, program's view. */
const SHELL = 2;
const VIEW = 3;

async function render({ page, said }) {
  said.length = 0;
  const run = page.getByRole("button", { name: "Run" });
  await run.click();
  const first = (what, depth) =>
    said.find((one) => one.what === what && (depth === undefined || one.figures[0] === depth))
      ?.figures[1];
  const until = performance.now() + 10_000;
  while (first("paint", VIEW) === undefined) {
    if (performance.now() > until) throw new Error("the view was not painted within ten seconds");
    await page.waitForTimeout(20);
  }
  return {
    view: first("paint", VIEW) - first("result"),
    shell: (first("paint", SHELL) ?? NaN) - first("html"),
  };
}

async function readOnce({ page, said }, view) {
  said.length = 0;
  await view.getByRole("button", { name: "Read" }).click();
  while (said.every(({ what }) => what !== "read")) await page.waitForTimeout(5);
  return said.find(({ what }) => what === "read").figures[0];
}

async function samples(count, take) {
  const found = [];
  await take();
  for (let index = 0; index < count; index++) found.push(await take());
  return found;
}

/** What a person sees of a view: when it stands there, and how fast a click brings new text. */
export async function view({ quick }) {
  const executablePath = await findBrowser(at("../../.."));
  if (executablePath === undefined) throw new Error("no Chromium was found");
  const server = await start(CONNECTA, { SANDBOX_PORT: "0" }, ["dev", "--config", CONFIG]);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const watched = await watchedPage(browser, new URL(server.url).origin);
    await watched.page.getByRole("textbox", { name: "Program" }).fill(PROGRAM);
    const renders = await samples(quick ? 5 : 25, () => render(watched));
    const frame = watched.page.frameLocator('iframe[title="Rendered view"]');
    const inner = frame.frameLocator("iframe").frameLocator("iframe");
    const reads = await samples(quick ? 10 : 50, () => readOnce(watched, inner));
    return {
      rows: [
        atMost(
          "view: result at the host → painted",
          "ms",
          median(renders.map((one) => one.view)),
          60,
        ),
        atMost(
          "view: HTML delivered → shell painted",
          "ms",
          median(renders.map((one) => one.shell)),
          120,
        ),
        atMost("view: click → text of a new read", "ms", median(reads), 25),
      ],
      raw: { renders, reads },
    };
  } finally {
    await browser.close();
    await server.stop();
  }
}
