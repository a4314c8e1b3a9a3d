import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { Notice } from "../../shared/notice.ts";
import type { Scope } from "../../shared/scope.ts";
import { clampChars } from "../../shared/text.ts";
import { unlessAborted } from "../../shared/waiting.ts";
import type { Child, Launch, StopTimes } from "./child.ts";
import { howItEnded, shakeHands, type Era, type Misstart, type Session } from "./handshake.ts";

/** Times of a process's life, all in milliseconds. */
export interface LifeTimes extends StopTimes {
  /** For a start with its handshake. */
  readonly handshakeMs: number;
  /** Without a call, after which the process is ended. */
  readonly idleMs: number;
  /** Before a second failure in a row is followed by a new start; doubled for every further one. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** A process that lived so long was well, whatever ended it. */
  readonly healthyMs: number;
}

/** What a supervisor needs to know. */
export interface SupervisorOptions {
  readonly id: string;
  readonly launch: Launch;
  readonly maxBytes: number;
  readonly times: LifeTimes;
  readonly redact: (text: string) => string;
  readonly toolsChanged: () => void;
  /** Nothing is started before this has ended. */
  readonly after?: Promise<void> | undefined;
}

interface Alive extends Session {
  readonly since: number;
}

const LAST_LINE_CHARS = 300;

/** Keeps at most one process of a server: started when needed, shared, ended when idle. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  #alive: Alive | undefined;
  #starting: Promise<Outcome<Alive>> | undefined;
  /** Every process that has not ended yet, with its end. */
  readonly #running = new Map<Child, Promise<void>>();
  readonly #closing = new AbortController();
  #latest: Child | undefined;
  #era: Era | undefined;
  #users = 0;
  #idle: NodeJS.Timeout | undefined;
  #failures = 0;
  #notBefore = 0;
  #reason = "";

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Lets `work` use the process, which stays at least as long as that takes. */
  async use<T>(scope: Scope, work: (session: Session) => Promise<T>): Promise<Outcome<T>> {
    this.#users++;
    clearTimeout(this.#idle);
    try {
      const session = await this.#session(scope);
      return session.ok ? ok(await work(session.value)) : session;
    } finally {
      this.#users--;
      if (this.#users === 0) this.#waitForUse();
    }
  }

  /** The end of what the process, or the one before it, wrote besides answers. */
  get errorOutput(): string {
    return this.#options.redact(this.#latest?.tail ?? "");
  }

  /** Ends the process and starts no other. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#starting;
    this.#endProcess();
    clearTimeout(this.#idle);
    await Promise.all([this.#options.after, ...this.#running.values()]);
  }

  async #session(scope: Scope): Promise<Outcome<Alive>> {
    const { id } = this.#options;
    if (this.#closing.signal.aborted) return fail("unavailable", `${id} is closed.`);
    if (this.#alive !== undefined) return ok(this.#alive);
    if (this.#starting === undefined) {
      const wait = Math.ceil(this.#notBefore - performance.now());
      if (wait > 0) {
        const text = `${id} ${this.#reason}; it is not started again yet.`;
        return fail("unavailable", text, { retryAfterMs: wait });
      }
      this.#starting = this.#start(scope).finally(() => {
        this.#starting = undefined;
      });
      scope.defer(this.#starting);
    }
    return unlessAborted(this.#starting, scope.signal, id);
  }

  async #start(scope: Scope): Promise<Outcome<Alive>> {
    const { launch, maxBytes, times, toolsChanged, id } = this.#options;
    // Two processes of one server may want the same port, file or browser profile.
    await Promise.all([this.#options.after, ...this.#running.values()]);
    const started = await shakeHands({
      launch,
      era: this.#era,
      maxBytes,
      timeoutMs: times.handshakeMs,
      stop: times,
      closing: this.#closing.signal,
      toolsChanged,
      began: (child) => this.#follow(child),
    });
    if (!("client" in started)) {
      this.#era = undefined;
      this.#backOff(this.#failures);
      this.#tell(started, scope);
      return fail("unavailable", `${id} ${started.reason}.`);
    }
    const alive = { ...started, since: performance.now() };
    this.#alive = alive;
    this.#era = started.era;
    void started.child.ended.then((ending) => this.#lost(alive, howItEnded(ending), scope));
    if (this.#users === 0) this.#waitForUse();
    return ok(alive);
  }

  /** Every process that began is waited for when the connector closes. */
  #follow(child: Child): void {
    this.#latest = child;
    this.#running.set(
      child,
      child.ended.then(() => void this.#running.delete(child)),
    );
  }

  #lost(alive: Alive, how: string, scope: Scope): void {
    if (this.#alive !== alive) return;
    this.#alive = undefined;
    clearTimeout(this.#idle);
    const { times } = this.#options;
    if (performance.now() - alive.since >= times.healthyMs) this.#failures = 0;
    // After one crash the next call finds a new process at once.
    this.#backOff(this.#failures - 1);
    this.#tell({ reason: how, child: alive.child }, scope);
  }

  #backOff(doublings: number): void {
    const { backoffMs, maxBackoffMs } = this.#options.times;
    this.#failures++;
    const wait = doublings < 0 ? 0 : Math.min(backoffMs * 2 ** doublings, maxBackoffMs);
    this.#notBefore = performance.now() + wait;
  }

  #waitForUse(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#endProcess(), this.#options.times.idleMs);
    this.#idle.unref();
  }

  #endProcess(): void {
    const alive = this.#alive;
    if (alive === undefined) return;
    this.#alive = undefined;
    this.#failures = 0;
    void alive.child.stop();
  }

  #tell({ reason, child }: Misstart, scope: Scope): void {
    this.#reason = reason;
    const { id, redact } = this.#options;
    const lines = redact(child?.tail ?? "").split("\n");
    const last = lines.findLast((line) => line.trim() !== "") ?? "";
    const said = last.replace(/[\p{Cc}\p{Surrogate}]/gu, " ").trim();
    const quote = said === "" ? "" : ` Its last words: ${clampChars(said, LAST_LINE_CHARS)}`;
    scope.report(new Notice(`${id} ${reason}.${quote}`), id);
  }
}
