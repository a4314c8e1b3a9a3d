// `npm run screenshots`: the picture of the README, taken of the demo deployment as it is now.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { findBrowser } from "../scripts/ensure/browser.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PICTURE = `${ROOT}documentation/images/host-page.webp`;
const MOST_BYTES = 150_000;
/** Smaller letters than these cannot be read on a page of documentation. */
const SIZE = {
  viewport: { width: 1200, height: 760 },
  deviceScaleFactor: 1.5,
  colorScheme: "light",
};

const server = await serve();
const executablePath = await findBrowser(ROOT);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await (await browser.newContext(SIZE)).newPage();
  await page.goto(server.origin);
  await page.getByLabel("Example").selectOption({ label: "System dashboard" });
  await page.getByRole("button", { name: "Run" }).click();
  const view = page.frameLocator("iframe").frameLocator("iframe").frameLocator("iframe");
  await view.getByRole("button", { name: "Refresh" }).click();
  await page.locator("#messages tr", { hasText: "result of" }).waitFor();
  await view.locator("button:enabled", { hasText: "Refresh" }).waitFor();
  const picture = await compressed(browser, await page.screenshot());
  if (picture.length > MOST_BYTES) throw new Error(`the picture has ${picture.length} bytes`);
  writeFileSync(PICTURE, picture);
  console.log(`${PICTURE}: ${picture.length} bytes`);
} finally {
  await browser.close();
  server.stop();
}

/** The browser knows a smaller format than it takes pictures in. */
async function compressed(browser, png) {
  const page = await browser.newPage();
  const address = await page.evaluate(
    async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), {
        width: image.naturalWidth,
        height: image.naturalHeight,
      });
      canvas.getContext("2d").drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", 0.8);
    },
    `data:image/png;base64,${png.toString("base64")}`,
  );
  return Buffer.from(address.split(",")[1], "base64");
}

function serve() {
  const config = `${ROOT}examples/node/connecta.config.mjs`;
  const args = [`${ROOT}scripts/connecta.mjs`, "dev", "--config", config, "--port", "0"];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    let printed = "";
    child.once("exit", (code) => reject(new Error(`connecta ended with ${code}`)));
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      const origin = /^listening (\S+)$/m.exec(printed)?.[1];
      if (origin !== undefined) resolve({ origin, stop: () => child.kill("SIGTERM") });
    });
  });
}
