import { Socket, type ConnectOpts, type SocketConstructorOpts } from "node:net";
import { failure, type Failure } from "../shared/failure.ts";
import { HeapBudget, loadEngine } from "./engine.ts";
import { Inbox } from "./inbox.ts";
import type { Interpreter } from "./interpreter.ts";
import {
  encodeFrame,
  encodeTimings,
  FRAME,
  KIND,
  type Frame,
  type FrameParts,
} from "./protocol.ts";
import { Run } from "./run.ts";
import type { Setup } from "./setup.ts";
import { Spares, type KnownSetup } from "./spares.ts";
import { warmUp } from "./warm.ts";

/** The one descriptor that this process was given. */
const CHANNEL = 3;

/** The process takes its orders from the channel alone; a terminal's signals are for the server. */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

interface Entry {
  readonly known: KnownSetup;
  readonly run: Run;
}

/** Programs that were taken and have not ended; without an entry while one is being made. */
const runs = new Map<number, Entry | undefined>();
/** Programs whose cancelling has been read and has not had its turn: none of them computes on. */
const leaving = new Set<number>();
const queued: Buffer[] = [];
let spares: Spares | undefined;

const outbox = {
  queue(parts: FrameParts) {
    queued.push(encodeFrame(parts));
  },
  flush() {
    if (queued.length === 0) return;
    channel.cork();
    for (const frame of queued.splice(0)) channel.write(frame);
    channel.uncork();
  },
  glance() {
    if (!inbox.glance()) process.exit(0);
  },
};

function idle(run: number): void {
  outbox.queue({ type: FRAME.idle, run });
}

function refuse(run: number, reason: Failure): void {
  const payload = JSON.stringify(reason);
  const prefix = encodeTimings(0, 0);
  outbox.queue({ type: FRAME.done, kind: KIND.failure, run, prefix, payload });
}

async function start(binary: Uint8Array<ArrayBuffer>): Promise<void> {
  const budget = new HeapBudget();
  spares = new Spares(await loadEngine(binary, budget), budget);
  const heatUp = await warmUp(spares);
  outbox.queue({ type: FRAME.ready });
  outbox.flush();
  await heatUp();
  globalThis.gc?.();
  outbox.queue({ type: FRAME.warm });
  outbox.flush();
}

async function learn(id: number, setup: Setup): Promise<void> {
  spares?.add(id, setup);
  await spares?.known(id);
  idle(0);
  outbox.flush();
}

/** Begins at once when it can: the server knows by the order of frames which run it waits for. */
function take(id: number, setup: number, code: Uint8Array): void {
  const since = performance.now();
  const ready = spares?.ready(setup);
  if (ready) begin(id, { ...ready, code, since });
  else void park(id, setup, Buffer.from(code), since);
  outbox.flush();
}

async function park(id: number, setup: number, code: Uint8Array, since: number): Promise<void> {
  outbox.queue({ type: FRAME.parked, run: id });
  const known = await spares?.known(setup);
  const interpreter = known && (await spares?.take(known));
  if (!runs.has(id) || leaving.has(id)) {
    if (known && interpreter) spares?.giveBack(known, interpreter, true);
    return;
  }
  outbox.queue({ type: FRAME.unparked, run: id });
  outbox.flush();
  if (known && interpreter) begin(id, { known, interpreter, code, since });
  else {
    runs.delete(id);
    refuse(id, whyNot(known));
  }
  outbox.flush();
}

function begin(
  id: number,
  parts: { known: KnownSetup; interpreter: Interpreter; code: Uint8Array; since: number },
): void {
  const { known, interpreter, code } = parts;
  const setupMs = performance.now() - parts.since;
  const { limits } = known.setup;
  const entry = { known, run: new Run(id, { interpreter, limits, outbox, setupMs }) };
  runs.set(id, entry);
  entry.run.begin(code);
  settle(entry);
}

function whyNot(known: KnownSetup | undefined): Failure {
  if (typeof known?.prepared === "string") {
    return failure("internal", `A prelude does not work: ${known.prepared}`);
  }
  const message = "The sandbox process has no memory for another program.";
  return failure("executor_overloaded", message, { retryAfterMs: 1_000 });
}

/** Answers the frame that woke a run, and lets its interpreter go when the run has ended. */
function settle({ known, run }: Entry): void {
  if (!run.ended) return idle(run.id);
  if (run.abandoned) idle(run.id);
  runs.delete(run.id);
  setImmediate(() => spares?.giveBack(known, run.interpreter, run.clean));
}

function cancel(id: number): void {
  const entry = runs.get(id);
  runs.delete(id);
  leaving.delete(id);
  idle(id);
  if (entry === undefined) return;
  entry.run.abandon();
  spares?.giveBack(entry.known, entry.run.interpreter, false);
}

function arrived({ type, run }: Frame): void {
  if (type !== FRAME.cancel) return;
  leaving.add(run);
  runs.get(run)?.run.abandon();
}

function handle({ type, kind, run, call, payload }: Frame): void {
  switch (type) {
    case FRAME.engine:
      return void start(new Uint8Array(payload));
    case FRAME.setup:
      return void learn(call, JSON.parse(payload.toString()) as Setup);
    case FRAME.forget:
      return void spares?.forget(call);
    case FRAME.run:
      if (leaving.has(run)) return idle(run);
      runs.set(run, undefined);
      return take(run, call, payload);
    case FRAME.reply: {
      const entry = runs.get(run);
      entry?.run.reply(call, kind, payload);
      if (entry) settle(entry);
      else idle(run);
      return outbox.flush();
    }
    case FRAME.cancel:
      cancel(run);
      return outbox.flush();
  }
}

const inbox = new Inbox(CHANNEL, { arrived, handle });
const options: SocketConstructorOpts & ConnectOpts = {
  fd: CHANNEL,
  readable: true,
  writable: true,
  // One buffer for all reads: a large payload would otherwise leave as much garbage as it is long.
  onread: {
    buffer: Buffer.allocUnsafe(256 * 1024),
    callback(length, buffer) {
      if (!inbox.push(Buffer.from(buffer.buffer, buffer.byteOffset, length))) process.exit(1);
      return true;
    },
  },
};
const channel = new Socket(options);
channel.on("error", () => process.exit(1));
channel.on("close", () => process.exit(0));
