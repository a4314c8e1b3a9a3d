import type { FrameLocator, Locator, Page, Request } from "playwright";
import { expect } from "vitest";

/** Asserts about something that becomes true; a busy machine may take its time. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, { timeout: 20_000, interval: 20 });
}

/** True once something is on the page and visible; fails in the browser driver's words otherwise. */
export async function appears(locator: Locator): Promise<true> {
  await locator.waitFor();
  return true;
}

/** One row of the inspector. */
export interface Row {
  readonly direction: string;
  readonly method: string;
  readonly about: string;
  readonly marks: string;
}

/** The host page by its roles and names, as a person finds things on it. */
export class HostPage {
  readonly page: Page;
  readonly #requests: Request[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on("request", (request) => this.#requests.push(request));
  }

  get shell(): FrameLocator {
    return this.page.frameLocator('iframe[title="Rendered view"]').frameLocator("iframe");
  }

  /** The frame with the program's own HTML. */
  get view(): FrameLocator {
    return this.shell.frameLocator("iframe");
  }

  get alert(): Locator {
    return this.page.getByRole("alert");
  }

  panel(name: string): Locator {
    return this.page.getByRole("tabpanel", { name });
  }

  async open(origin: string, path = "/"): Promise<void> {
    await this.page.goto(origin + path);
  }

  /** Chooses an example by its title and runs it. */
  async runExample(title: string): Promise<void> {
    await this.page.getByLabel("Example").selectOption({ label: title });
    await this.run();
  }

  /** Replaces the program by another one and runs it. */
  async runProgram(code: string): Promise<void> {
    await this.page.getByRole("textbox", { name: "Program" }).fill(code);
    await this.run();
  }

  /** Presses Run and waits for the answer. */
  async run(): Promise<void> {
    const button = this.page.getByRole("button", { name: "Run" });
    await button.click();
    // The button says Stop as long as a program runs.
    await button.waitFor();
  }

  /** What passed between the view and the host, as the inspector lists it. */
  async rows(): Promise<Row[]> {
    return this.page
      .getByRole("table", { name: "Messages between the view and the host" })
      .locator("tbody tr")
      .evaluateAll((rows) =>
        rows.map((row) => {
          const cells = [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "");
          const [, , direction = "", method = "", about = ""] = cells;
          return { direction, method, about, marks: row.className };
        }),
      );
  }

  /** The tools that were called over the network since the page was opened, in order. */
  calls(): { name: string; arguments: Record<string, unknown> }[] {
    return this.#requests.flatMap((request) => {
      if (request.method() !== "POST" || new URL(request.url()).pathname !== "/mcp") return [];
      const body = request.postDataJSON() as { method: string; params: never };
      return body.method === "tools/call" ? [body.params] : [];
    });
  }

  /** How often `call_tool` was called while `action` ran. */
  async readsDuring(action: () => Promise<void>): Promise<number> {
    const count = () => this.calls().filter(({ name }) => name === "call_tool").length;
    const before = count();
    await action();
    return count() - before;
  }
}
