import { createSocket, type Socket as Datagrams } from "node:dgram";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { answerTo, questionOf } from "./dns.ts";
import { isTls, readHello } from "./tls.ts";

/**
 * What a witness may hear of one attack: a name looked up, a connection, a datagram, the name in a
 * TLS hello, a whole request; a call at the host that no read declares, a word in the page that only
 * a forger could give it, a question to the person.
 */
export type Channel = "dns" | "tcp" | "udp" | "sni" | "http" | "call" | "page" | "prompt";

const SIGNS = ["shown", "ran", "pointed", "acted"] as const;

/** What an attack tells of itself: the page before it was shown, its
 * program ran, the pointer came, and went down. */
export type Sign = (typeof SIGNS)[number];

export function isSign(value: unknown): value is Sign {
  return SIGNS.some((sign) => sign === value);
}

/** Where one attack may go: every address in it is heard under the one label. */
export interface Target {
  readonly label: string;
  readonly host: string;
  /** The address that the name stands for. */
  readonly address: string;
  readonly port: number;
  readonly http: string;
  readonly https: string;
  readonly ws: string;
  /** On the origin of the host page, for what only an own origin may load. */
  readonly own: string;
}

const ZONE = "threat.test";
const BODIES: Readonly<Record<string, readonly [string, string]>> = {
  js: ["text/javascript", "0"],
  css: ["text/css", "p{}"],
  html: ["text/html", "<p>there"],
  vtt: ["text/vtt", "WEBVTT\n"],
  svg: ["image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"],
};

/** Listeners of every kind, which tell what reached them by the label of the attack. */
export class Witness {
  /** Whether names are answered for, and lookups heard. */
  readonly named: boolean;
  readonly #address: string;
  #targets = 0;
  readonly #heard = new Map<string, Set<Channel | Sign>>();
  readonly #waiting = new Set<() => void>();
  readonly #servers: Server[] = [];
  readonly #datagrams: Datagrams[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(address: string | undefined) {
    this.named = address !== undefined;
    this.#address = address ?? "127.0.0.1";
  }

  /**
   * @param address of this machine in its namespace, where it also answers for names; without one
   * only loopback connections are heard
   */
  static async start(address?: string): Promise<Witness> {
    const witness = new Witness(address);
    if (address !== undefined) await witness.#answerNames(address.split(".").map(Number));
    return witness;
  }

  /** Everything heard of an attack so far, in order of the alphabet. */
  heard(label: string): readonly Channel[] {
    const all = [...(this.#heard.get(label) ?? [])];
    return all.filter((one) => !isSign(one)).toSorted();
  }

  /** What an attack has told of itself so far. */
  signs(label: string): readonly Sign[] {
    return [...(this.#heard.get(label) ?? [])].filter(isSign);
  }

  hear(label: string, channel: Channel | Sign): void {
    const known = this.#heard.get(label);
    if (known) known.add(channel);
    else this.#heard.set(label, new Set([channel]));
    for (const check of this.#waiting) check();
  }

  /** Waits until all of them were heard; `false` after `ms` milliseconds without. */
  async until(label: string, channels: readonly (Channel | Sign)[], ms: number): Promise<boolean> {
    const done = () => channels.every((channel) => this.#heard.get(label)?.has(channel));
    if (done()) return true;
    return new Promise((resolve) => {
      const settle = (result: boolean) => {
        this.#waiting.delete(check);
        clearTimeout(timer);
        resolve(result);
      };
      const check = () => done() && settle(true);
      const timer = setTimeout(() => settle(false), ms);
      this.#waiting.add(check);
    });
  }

  /** Opens a port for TCP and UDP, and makes a name for it that nobody had before. */
  async target(ownOrigin: string): Promise<Target> {
    const label = `t${this.#targets++}`;
    const port = await this.#listen(label);
    const host = `${label}.${this.named ? ZONE : "localhost"}`;
    const authority = `${host}:${port}`;
    return {
      label,
      host,
      address: this.#address,
      port,
      http: `http://${authority}/`,
      https: `https://${authority}/`,
      ws: `ws://${authority}/`,
      own: `${ownOrigin}/own/${label}`,
    };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const datagrams of this.#datagrams) datagrams.close();
    for (const server of this.#servers) await new Promise((resolve) => server.close(resolve));
  }

  async #answerNames(address: readonly number[]): Promise<void> {
    const socket = createSocket("udp4");
    socket.on("message", (query, { port, address: from }) => {
      const name = questionOf(query)?.name ?? "";
      const ours = name.endsWith(`.${ZONE}`);
      if (ours) this.hear(name.slice(0, -ZONE.length - 1), "dns");
      socket.send(answerTo(query, ours ? address : undefined), port, from);
    });
    this.#datagrams.push(socket);
    if (!(await bound(socket, 53, "127.0.0.1"))) throw new Error("the port for names is taken");
  }

  /** One port that is free for both kinds of traffic. */
  async #listen(label: string): Promise<number> {
    for (;;) {
      const server = createServer((socket) => this.#serve(label, socket));
      await new Promise<void>((resolve) => server.listen(0, this.#address, resolve));
      const { port } = server.address() as AddressInfo;
      const datagrams = createSocket("udp4");
      datagrams.on("message", () => this.hear(label, "udp"));
      if (await bound(datagrams, port, this.#address)) {
        this.#servers.push(server);
        this.#datagrams.push(datagrams);
        return port;
      }
      server.close();
    }
  }

  #serve(label: string, socket: Socket): void {
    this.hear(label, "tcp");
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let bytes = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (isTls(bytes)) {
        const hello = readHello(bytes);
        if (!hello.complete) return;
        if (hello.name?.startsWith(`${label}.`)) this.hear(label, "sni");
        socket.destroy();
      } else if (bytes.includes("\r\n\r\n")) {
        this.hear(label, "http");
        socket.end(replyTo(bytes.toString("latin1")));
      }
    });
  }
}

async function bound(socket: Datagrams, port: number, address: string): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once("error", () => socket.close(() => resolve(false)));
    socket.bind(port, address, () => resolve(true));
  });
}

/** A small answer of the kind that the path asks for, open to every origin. */
function replyTo(request: string): string {
  const extension = /^\S+ [^\s?]*\.(\w+)/.exec(request)?.[1] ?? "html";
  const [type, body] = BODIES[extension] ?? ["application/octet-stream", ""];
  return [
    "HTTP/1.1 200 OK",
    `content-type: ${type}`,
    `content-length: ${body.length}`,
    "access-control-allow-origin: *",
    "access-control-allow-headers: *",
    "cache-control: no-store",
    "connection: close",
    "",
    body,
  ].join("\r\n");
}
