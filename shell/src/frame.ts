import type { ViewPayload } from "../../server/view/protocol.ts";
import { serveReads, type Bridge, type CallTool } from "./bridge.ts";
import { innerDocument } from "./document.ts";
import { readFailure } from "./failures.ts";
import type { Push, ReadFailure, Theme } from "./messages.ts";

const REPLACED = readFailure("reads_unavailable", "The view was replaced; its reads have ended.");

/** One rendered payload: its frame and, when it has reads, its bridge. */
export class InnerFrame {
  readonly element: HTMLIFrameElement;
  readonly #payload: ViewPayload;
  readonly #callTool: CallTool;
  readonly #render = randomName();
  #loads = 0;
  /** The latest theme, when it is no longer the one in the document. */
  #changed: Theme | undefined;
  #bridge: Bridge | undefined;
  #closed: ReadFailure | undefined;

  /**
   * Builds the frame; it renders once its element is in the page.
   * @param callTool the way to the host, for payloads with reads
   */
  constructor(page: Document, payload: ViewPayload, theme: Theme, callTool: CallTool) {
    this.#payload = payload;
    this.#callTool = callTool;
    const names = payload.reads && Object.keys(payload.reads);
    this.element = page.createElement("iframe");
    this.element.setAttribute("sandbox", "allow-scripts");
    this.element.referrerPolicy = "no-referrer";
    this.element.title = "Program view";
    this.element.srcdoc = innerDocument(
      payload.html,
      theme,
      names && { names, render: this.#render },
    );
    this.element.addEventListener("load", this.#onLoad);
    if (names) window.addEventListener("message", this.#onMessage);
  }

  /** Pushes a new theme into the document; there is no answer. */
  setTheme(theme: Theme): void {
    this.#changed = theme;
    this.#push({ type: "connecta/theme", theme });
  }

  /** Ends the reads of this render for good; the first reason stands. */
  close(reason: ReadFailure): void {
    if (this.#closed || !this.#payload.reads) return;
    this.#closed = reason;
    window.removeEventListener("message", this.#onMessage);
    this.#bridge?.close(reason);
    this.#tellClosed();
  }

  readonly #onMessage = ({ source, data, ports }: MessageEvent<unknown>): void => {
    if (source === null || source !== this.element.contentWindow) return;
    const [port] = ports;
    if (!port || ports.length !== 1 || !this.#isOffer(data)) return;
    // Only the document of this render knows its name: a second offer means that it was loaded again.
    if (this.#bridge) this.close(REPLACED);
    else this.#bridge = serveReads(port, this.#payload.reads ?? {}, this.#callTool);
  };

  readonly #onLoad = (): void => {
    // Until now nobody may have listened, and a document that was loaded again begins with the old one.
    if (this.#changed) this.#push({ type: "connecta/theme", theme: this.#changed });
    // A second load means that the document which holds the other end of the port is gone.
    if (this.#bridge) this.#loads++;
    if (this.#closed) this.#tellClosed();
    else if (this.#loads > 1) this.close(REPLACED);
  };

  #tellClosed(): void {
    if (this.#closed) this.#push({ type: "connecta/closed", error: this.#closed });
  }

  #isOffer(data: unknown): boolean {
    if (typeof data !== "object" || data === null) return false;
    if (!("type" in data) || !("render" in data)) return false;
    return data.type === "connecta/port" && data.render === this.#render;
  }

  #push(push: Push): void {
    this.element.contentWindow?.postMessage(push, "*");
  }
}

function randomName(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("");
}
