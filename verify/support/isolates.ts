import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { Miniflare, type WorkerOptions } from "miniflare";
import type { Storage } from "../../server/index.ts";
import { durableStorage, type StorageNamespace } from "../../server/worker/storage-durable.ts";
import { pass } from "./worker-server.ts";

const NAMES = ["one", "two"] as const;
export type IsolateName = (typeof NAMES)[number];

/** One Worker that runs twice, each in an isolate of its own, over one Durable Object. */
export interface Isolates {
  /** One address before both, which gives each every second request. */
  readonly url: string;
  /** Each by itself. */
  readonly urls: Readonly<Record<IsolateName, string>>;
  /** The Worker that stands before the first, if any. */
  readonly door: string;
  /** What all of them wrote into their logs. */
  logged(): string;
  /** A store as it lies in its Durable Object. */
  store(name: string): Storage;
  /** Ends all isolates and starts others over what was stored. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** What runs. */
export interface IsolatesOptions {
  /** The text of the Worker that is reached under an address. */
  readonly script: (url: string) => string;
  readonly bindings: (url: string, name: IsolateName) => Readonly<Record<string, string>>;
  /** The text of a Worker that finds the first as its binding `ONE`. */
  readonly door?: string;
}

/** Starts both isolates over a new folder. */
export async function startIsolates(options: IsolatesOptions): Promise<Isolates> {
  const folder = mkdtempSync(join(tmpdir(), "connecta-isolates-"));
  const said: string[] = [];
  const before = await inTurns(() => Object.values(running.urls));
  const workers = workersOf(options, before.url);
  const start = () => started(workers, folder, (text) => said.push(text));
  let running = await start();
  return {
    url: before.url,
    get urls() {
      return running.urls;
    },
    get door() {
      return running.door;
    },
    logged: () => said.join(""),
    store: (name) => durableStorage({ namespace: running.namespace, name }),
    async restart() {
      await running.stop();
      running = await start();
    },
    async close() {
      await before.close();
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function workersOf({ script, bindings, door }: IsolatesOptions, url: string): WorkerOptions[] {
  const base = {
    modules: true as const,
    compatibilityDate: "2026-04-01",
    compatibilityFlags: ["enable_request_signal"],
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
  const STORE = { className: "StorageObject", useSQLite: true, scriptName: "one" };
  const both = NAMES.map((name) => ({
    ...base,
    name,
    script: script(url),
    bindings: bindings(url, name),
    workerLoaders: { LOADER: {} },
    durableObjects: { STORE },
  }));
  if (door === undefined) return both;
  return [...both, { ...base, name: "door", script: door, serviceBindings: { ONE: "one" } }];
}

async function started(
  workers: WorkerOptions[],
  folder: string,
  heard: (text: string) => void,
): Promise<Pick<Isolates, "urls" | "door"> & Running> {
  const runtime = new Miniflare({
    cf: false,
    durableObjectsPersist: folder,
    workers,
    handleRuntimeStdio(...streams: Readable[]) {
      for (const stream of streams) stream.setEncoding("utf8").on("data", heard);
    },
  });
  const addresses = workers.map(({ name }) => runtime.unsafeGetDirectURL(name));
  const [one = "", two = "", door = ""] = (await Promise.all(addresses)).map(
    ({ origin }) => origin,
  );
  const namespace: unknown = await runtime.getDurableObjectNamespace("STORE", "one");
  if (!isNamespace(namespace)) throw new Error("The Workers have no store.");
  return { urls: { one, two }, door, namespace, stop: () => runtime.dispose() };
}

interface Running {
  readonly namespace: StorageNamespace<unknown>;
  stop(): Promise<void>;
}

function isNamespace(value: unknown): value is StorageNamespace<unknown> {
  return typeof value === "object" && value !== null && "idFromName" in value;
}

/** One address before several, each of which gets the next request. */
async function inTurns(targets: () => readonly string[]) {
  let turn = 0;
  const server = createServer((request, response) => {
    const all = targets();
    pass(request, response, new URL(all[turn++ % all.length] ?? ""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
