import { mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Frame, Page } from "playwright";
import { launchChromium, launchProfile, OUT, ROOT } from "../support/chromium.ts";
import hostSource from "./host-page.ts?travel";
import type { Answer, Host, HostConfig, Passed, Remount } from "./host-page.ts";
import shimSource from "./shim.ts?travel";

const PICTURES = `${OUT}shell/`;

/** The policy that the specification gives to a resource that declares none. */
const HOST_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; media-src 'self' data:; font-src 'self'; connect-src 'none'; " +
  "frame-src 'none'; object-src 'none'; base-uri 'self'";

/**
 * Where a host may have put the built shell:
 * - `/shell`: a page of its own, under the host's policy and its own
 * - `/moved/shell`: inside another body, where its own policy means nothing, and under no other
 * - `/header/shell`: inside another body, under the host's policy alone
 */
export type ShellPath = "/shell" | "/moved/shell" | "/header/shell";

/** What a test wants of its host; the rest is that of an ordinary one. */
export interface OpenOptions extends Partial<Omit<HostConfig, "shell">> {
  readonly shell?: ShellPath;
  /** Puts a foreign script into the shell's window, before the shell: `shim` there tells of it. */
  readonly shim?: boolean;
  /** Pixels of the page. */
  readonly width?: number;
}

/** One open host page with the built shell in it. */
export interface Opened {
  readonly page: Page;
  /** Errors and warnings of the console, errors of the pages, policy violations among them. */
  readonly complaints: string[];
  /** The shell's own frame. */
  shell(): Frame;
  /** The program's frame, once it is there. */
  inner(): Promise<Frame>;
  /** Sends one message from the host to the view. */
  send(message: unknown): Promise<void>;
  /** Delivers a tool result. */
  deliver(result: unknown): Promise<void>;
  /** What passed between host and view so far. */
  passed(): Promise<Passed[]>;
  /** The `tools/call` requests of the view so far, by their parameters. */
  calls(): Promise<unknown[]>;
  /** Puts the same frame up once more, and waits until its shell has asked for a handshake. */
  remount(how: Remount): Promise<void>;
  /** Keeps a picture under `verify/out/shell/`. */
  picture(name: string): Promise<Buffer>;
}

/** A running browser, with a way to a page that no earlier test has touched. */
interface Browsing {
  newPage(width: number): Promise<Page>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** A browser and a loopback server for one test file. */
export class Stage {
  readonly #browsing: Browsing;
  readonly #server: Server;
  readonly #pages: Map<string, string>;
  /** Where everything is served. */
  readonly origin: string;
  /** The path of every request so far. */
  readonly requests: string[];

  private constructor(
    browsing: Browsing,
    server: Server,
    pages: Map<string, string>,
    requests: string[],
  ) {
    this.#browsing = browsing;
    this.#server = server;
    this.#pages = pages;
    this.requests = requests;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /**
   * Starts both; the built shell must exist.
   * @param options `profile`: a regular profile in a folder of its own, shared by all pages
   */
  static async start({ profile = false } = {}): Promise<Stage> {
    const pages = shellPages(readFileSync(`${ROOT}dist/shell/index.html`, "utf8"));
    const requests: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      requests.push(url);
      const page = pages.get(url);
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.setHeader("access-control-allow-origin", "*");
      if (/^(\/shim)?(\/header)?\/shell$/.test(url)) {
        response.setHeader("content-security-policy", HOST_POLICY);
      }
      response.statusCode = page === undefined ? 404 : 200;
      response.end(page);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    mkdirSync(PICTURES, { recursive: true });
    const browsing = profile ? await browseWithProfile() : await browseFreshly();
    return new Stage(browsing, server, pages, requests);
  }

  /** Closes every page that is open. */
  async clear(): Promise<void> {
    await this.#browsing.clear();
  }

  async close(): Promise<void> {
    await this.#browsing.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /**
   * Opens a host page of its own.
   * @param answer answers the view's requests, `tools/call` above all
   */
  async open(
    options: OpenOptions = {},
    answer: Answer = () => Promise.reject(new Error("nothing answers here")),
  ): Promise<Opened> {
    const path = `/host/${this.#pages.size}`;
    const { width = 768, shim = false, shell = "/shell", ...chosen } = options;
    const config: HostConfig = {
      scheme: "light",
      initialize: "once",
      careless: false,
      hostContext: { theme: chosen.scheme ?? "light" },
      hostCapabilities: { serverTools: {} },
      ...chosen,
      shell: shim ? `/shim${shell}` : shell,
    };
    this.#pages.set(path, hostDocument(config));
    const page = await this.#browsing.newPage(width);
    const complaints = await watch(page);
    await page.exposeFunction("answer", answer);
    await page.goto(this.origin + path);
    return opened(page, complaints);
  }
}

/** The built shell in every place of {@link ShellPath}, and again behind a foreign script. */
function shellPages(shell: string): Map<string, string> {
  const theirs = (script: string) =>
    `<!doctype html><html><head><script>${script}</script></head><body>${shell}</body></html>`;
  const moved = theirs(`"theirs"`);
  const shimmed = theirs(`(${shimSource})()`);
  return new Map([
    ["/shell", shell],
    ["/moved/shell", moved],
    ["/header/shell", moved],
    ["/shim/shell", shell.replace("<head>", () => `<head><script>(${shimSource})()</script>`)],
    ["/shim/moved/shell", shimmed],
    ["/shim/header/shell", shimmed],
  ]);
}

function hostDocument(config: HostConfig): string {
  const json = JSON.stringify(config).replaceAll("<", "\\u003c");
  const icon = `<link rel="icon" href="data:,">`;
  return `<!doctype html><title>host</title>${icon}<body><script>(${hostSource})(${json})</script>`;
}

async function browseFreshly(): Promise<Browsing> {
  const browser = await launchChromium();
  return {
    newPage: (width) => browser.newPage({ viewport: { width, height: 640 } }),
    async clear() {
      for (const context of browser.contexts()) await context.close();
    },
    close: () => browser.close(),
  };
}

async function browseWithProfile(): Promise<Browsing> {
  const profile = await launchProfile();
  // The page that such a browser opens with stays: without any it would end.
  const [first] = profile.context.pages();
  return {
    async newPage(width) {
      const page = await profile.context.newPage();
      await page.setViewportSize({ width, height: 640 });
      return page;
    },
    async clear() {
      const others = profile.context.pages().filter((page) => page !== first);
      for (const page of others) await page.close();
    },
    close: () => profile.close(),
  };
}

/** Writes down every complaint of a page and its frames from now on. */
async function watch(page: Page): Promise<string[]> {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  // In every frame: a violation that code catches shows nowhere else.
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      console.error(`violation of ${violatedDirective} by ${blockedURI}`);
    });
  });
  return complaints;
}

type Driven = { host: Host };

function opened(page: Page, complaints: string[]): Opened {
  const shell = () => {
    const frame = page.frames().find((candidate) => candidate.url().endsWith("/shell"));
    if (!frame) throw new Error("the shell's frame is not there");
    return frame;
  };
  const send = (message: unknown) =>
    page.evaluate((sent) => (window as unknown as Driven).host.send(sent), message);
  const passed = () => page.evaluate(() => (window as unknown as Driven).host.passed);
  return {
    page,
    complaints,
    shell,
    async inner() {
      const element = await shell().waitForSelector("iframe", { state: "attached" });
      const frame = await element.contentFrame();
      if (!frame) throw new Error("the inner frame is not there");
      await frame.waitForLoadState("load");
      return frame;
    },
    send,
    deliver: (result) =>
      send({ jsonrpc: "2.0", method: "ui/notifications/tool-result", params: result }),
    passed,
    async calls() {
      const requests = (await passed()).filter(
        ({ from, message }) => from === "view" && message.method === "tools/call",
      );
      return requests.map(({ message }) => message.params);
    },
    remount: (how) =>
      page.evaluate((chosen) => (window as unknown as Driven).host.remount(chosen), how),
    picture: (name) => page.screenshot({ path: `${PICTURES}${name}.png` }),
  };
}
