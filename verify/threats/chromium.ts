import { findBrowser } from "../../scripts/ensure/browser.mjs";
import { ROOT } from "../support/chromium.ts";
import { IN_VIEW, type Driver, type Tab } from "./driver.ts";
import { startProcess } from "./process.ts";
import type { Act } from "./vector.ts";
import { Wire } from "./wire.ts";

/** What a person's browser has, but for what waits for a person, and what would hold popups back. */
const SWITCHES = [
  "--headless=new",
  // Containers often run as root and without the kernel features that the browser's own sandbox needs.
  "--no-sandbox",
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-popup-blocking",
  "--disable-background-timer-throttling",
  "--disable-renderer-backgrounding",
  "--disable-backgrounding-occluded-windows",
  "--password-store=basic",
  "--window-size=800,640",
  "--remote-debugging-port=0",
];
const CONTROL = { modifier: 2, key: "Control", code: "ControlLeft", windowsVirtualKeyCode: 17 };

/** Chromium with a regular profile and the features of its release, driven over its own protocol. */
export async function startChromium(): Promise<Driver> {
  const path = await findBrowser(ROOT);
  if (path === undefined) throw new Error("no Chromium was found");
  const browser = await startProcess(
    path,
    (folder) => [...SWITCHES, `--user-data-dir=${folder}`],
    /DevTools listening on (ws:\S+)/,
  );
  const prompted = new Map<string | undefined, () => void>();
  const wire = await Wire.connect(browser.address, (method, _params, session) => {
    if (method !== "Page.javascriptDialogOpening") return;
    prompted.get(session)?.();
    wire.send("Page.handleJavaScriptDialog", { accept: true }, session).catch(() => undefined);
  });
  const { product } = await wire.send("Browser.getVersion");
  return {
    kind: "chromium",
    version: String(product).replace(/^\w+\//, ""),
    async open(url, onPrompt) {
      const { targetId } = await wire.send("Target.createTarget", {
        url: "about:blank",
        newWindow: true,
      });
      const attach = { targetId, flatten: true };
      const { sessionId } = await wire.send("Target.attachToTarget", attach);
      const session = String(sessionId);
      prompted.set(session, onPrompt);
      await wire.send("Page.enable", {}, session);
      const tab = tabOf(wire, session, targetId);
      await tab.go(url);
      return tab;
    },
    async close() {
      wire.close();
      await browser.end();
    },
  };
}

function tabOf(wire: Wire, session: string, targetId: unknown): Tab {
  const mouse = (type: string, more: object = {}) =>
    wire.send("Input.dispatchMouseEvent", { type, ...IN_VIEW, ...more }, session);
  const control = (type: string, modifiers: number) =>
    wire.send("Input.dispatchKeyEvent", { type, modifiers, ...CONTROL }, session);
  return {
    async go(url) {
      await wire.send("Page.navigate", { url }, session);
    },
    async show() {
      await wire.send("Target.activateTarget", { targetId });
    },
    async point(shift) {
      await mouse("mouseMoved", { x: IN_VIEW.x + shift });
    },
    async act(act: Act) {
      const modifiers = act === "ctrl-click" ? CONTROL.modifier : 0;
      const button = act === "middle-click" ? "middle" : "left";
      const press = { button, clickCount: 1, modifiers };
      if (modifiers !== 0) await control("rawKeyDown", modifiers);
      await mouse("mousePressed", press);
      if (act !== "press") await mouse("mouseReleased", press);
      if (modifiers !== 0) await control("keyUp", 0);
    },
    async close() {
      await wire.send("Target.closeTarget", { targetId });
    },
  };
}
