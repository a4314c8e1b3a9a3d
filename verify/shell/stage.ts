import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type Frame, type Page } from "playwright";
import hostSource from "./host-page.ts?travel";
import type { Answer, Host, HostConfig, Passed } from "./host-page.ts";

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const OUT = at("verify/out/shell/");

/** The policy that the specification gives to a resource that declares none. */
const HOST_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; media-src 'self' data:; font-src 'self'; connect-src 'none'; " +
  "frame-src 'none'; object-src 'none'; base-uri 'self'";

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
  /** Keeps a picture under `verify/out/shell/`. */
  picture(name: string): Promise<Buffer>;
}

/** A browser and a loopback server for one test file. */
export class Stage {
  readonly #browser: Browser;
  readonly #server: Server;
  readonly #pages: Map<string, string>;
  /** Where everything is served. */
  readonly origin: string;
  /** The path of every request so far. */
  readonly requests: string[];

  private constructor(
    browser: Browser,
    server: Server,
    pages: Map<string, string>,
    requests: string[],
  ) {
    this.#browser = browser;
    this.#server = server;
    this.#pages = pages;
    this.requests = requests;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Starts both; the built shell must exist. */
  static async start(): Promise<Stage> {
    const shell = readFileSync(at("dist/shell/index.html"), "utf8");
    const moved = `<!doctype html><html><head><script>"theirs"</script></head><body>${shell}</body></html>`;
    const pages = new Map([
      ["/shell", shell],
      ["/moved/shell", moved],
    ]);
    const requests: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      requests.push(url);
      const page = pages.get(url);
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.setHeader("access-control-allow-origin", "*");
      if (url === "/shell") response.setHeader("content-security-policy", HOST_POLICY);
      response.statusCode = page === undefined ? 404 : 200;
      response.end(page);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    mkdirSync(OUT, { recursive: true });
    return new Stage(await launch(), server, pages, requests);
  }

  /** Closes every page that is open. */
  async clear(): Promise<void> {
    for (const context of this.#browser.contexts()) await context.close();
  }

  async close(): Promise<void> {
    await this.#browser.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /**
   * Opens a host page of its own.
   * @param answer answers the view's requests, `tools/call` above all
   */
  async open(
    config: Partial<HostConfig> & { readonly width?: number } = {},
    answer: Answer = () => Promise.reject(new Error("nothing answers here")),
  ): Promise<Opened> {
    const path = `/host/${this.#pages.size}`;
    const { width = 768, ...chosen } = config;
    const full: HostConfig = {
      shell: "/shell",
      scheme: "light",
      initialize: "once",
      careless: false,
      hostContext: { theme: chosen.scheme ?? "light" },
      hostCapabilities: { serverTools: {} },
      ...chosen,
    };
    this.#pages.set(path, documentOf(full));
    const page = await this.#browser.newPage({ viewport: { width, height: 640 } });
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
    await page.exposeFunction("answer", answer);
    await page.goto(this.origin + path);
    return opened(page, complaints);
  }
}

function documentOf(config: HostConfig): string {
  const json = JSON.stringify(config).replaceAll("<", "\\u003c");
  const icon = `<link rel="icon" href="data:,">`;
  return `<!doctype html><title>host</title>${icon}<body><script>(${hostSource})(${json})</script>`;
}

function opened(page: Page, complaints: string[]): Opened {
  const shell = () => {
    const frame = page.frames().find((candidate) => candidate.url().endsWith("/shell"));
    if (!frame) throw new Error("the shell's frame is not there");
    return frame;
  };
  const send = (message: unknown) =>
    page.evaluate((sent) => (window as unknown as { host: Host }).host.send(sent), message);
  const passed = () => page.evaluate(() => (window as unknown as { host: Host }).host.passed);
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
    picture: (name) => page.screenshot({ path: `${OUT}${name}.png` }),
  };
}

async function launch(): Promise<Browser> {
  const system = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const chosen = process.env.CHROMIUM_PATH ?? system.find((path) => existsSync(path));
  return chromium.launch({
    ...(chosen === undefined ? {} : { executablePath: chosen }),
    args: ["--no-sandbox"],
  });
}
