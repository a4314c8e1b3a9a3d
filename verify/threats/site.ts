import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import hostSource from "../shell/host-page.ts?travel";
import type { HostConfig } from "../shell/host-page.ts";
import type { Place } from "./places.ts";
import reporterSource from "./reporter.ts?travel";
import type { Report } from "./reporter.ts";

/** Hears of one thing that a page reports; the page is answered when that is through. */
export type Listener<T> = (report: T) => unknown;

/** What else a host page is made of. */
export interface Hosting {
  /** Hears of each request of the view. */
  readonly onReport: Listener<Report>;
  /** The address of the view's page, when it is not that of the place. */
  readonly shell?: string;
  /** Runs after the host's own. */
  readonly script?: string;
}

interface Page {
  readonly html: string;
  readonly headers?: Place["headers"];
}

/** Serves host pages, shells and what attacks on the own origin ask for; loopback only. */
export class Site {
  readonly #server: Server;
  readonly #pages = new Map<string, Page>();
  readonly #listeners = new Map<string, Listener<unknown>>();
  readonly #onOwn: (label: string) => void;

  /** @param onOwn hears of each request below `/own/`, by the rest of its path */
  private constructor(onOwn: (label: string) => void) {
    this.#onOwn = onOwn;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(places: readonly Place[], onOwn: (label: string) => void): Promise<Site> {
    const site = new Site(onOwn);
    for (const { path, page, headers } of places) site.#pages.set(path, { html: page, headers });
    await new Promise<void>((resolve) => site.#server.listen(0, "127.0.0.1", resolve));
    return site;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Another site by its name, the same by its bytes. */
  named(name: string): string {
    return `http://${name}.localhost:${this.#port}`;
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * A host page that shows a result in a view.
   * @returns its address
   */
  host(
    place: Place,
    result: unknown,
    { onReport, shell = place.path, script = "" }: Hosting,
  ): string {
    const config: HostConfig = {
      shell,
      scheme: "light",
      initialize: "once",
      careless: !place.defended,
      sandboxed: place.defended,
      hostContext: { theme: "light", containerDimensions: { height: 440 } },
      hostCapabilities: { serverTools: {} },
      result,
    };
    const json = JSON.stringify(config).replaceAll("<", "\\u003c");
    const report = JSON.stringify(this.listen(onReport));
    const scripts = `(${reporterSource})(${report});(${hostSource})(${json});${script}`;
    return this.page(`<link rel="icon" href="data:,"><body><script>${scripts}</script>`);
  }

  /** @returns the path that takes reports, as a list in JSON */
  listen<T>(listener: Listener<T>): string {
    const path = `/report/${this.#listeners.size}`;
    this.#listeners.set(path, (report) => listener(report as T));
    return path;
  }

  /** @returns the address of a page without a defence */
  page(html: string, path = `/page/${this.#pages.size}`): string {
    this.#pages.set(path, { html: `<!doctype html><meta charset="utf-8">${html}` });
    return this.origin + path;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    const own = path.startsWith("/own/");
    if (own) this.#onOwn(path.slice("/own/".length));
    const page = this.#pages.get(path);
    response.setHeader("content-type", own ? "text/javascript" : "text/html; charset=utf-8");
    response.setHeader("cache-control", "no-store");
    response.setHeader("access-control-allow-origin", "*");
    for (const [name, value] of Object.entries(page?.headers ?? {}))
      response.setHeader(name, value);
    const listener = this.#listeners.get(path);
    if (listener) for (const report of await reportsIn(request)) await listener(report);
    response.end(page?.html ?? "");
  }
}

async function reportsIn(request: IncomingMessage): Promise<readonly unknown[]> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString()) as readonly unknown[];
}
