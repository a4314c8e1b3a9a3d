import { redactor } from "../mcp/redact.ts";
import { Supervisor, type SupervisorOptions } from "./supervisor.ts";

/** What the process of one credential is watched over by. */
export interface Kept {
  readonly supervisor: Supervisor;
  /** Takes the environment's secrets out of texts that the process wrote. */
  readonly redact: (text: string) => string;
}

/** What every process of a server has in common. */
export interface ProcessesOptions extends Omit<SupervisorOptions, "redact" | "after"> {
  /** Values of its environment that no text may repeat. */
  readonly secrets: readonly string[];
}

/** The one process of a server; with another credential, another one after it. */
export class Processes {
  readonly #options: ProcessesOptions;
  #account: string | undefined;
  #kept: Kept | undefined;
  #closed = false;

  constructor(options: ProcessesOptions) {
    this.#options = options;
  }

  /**
   * Who watches over the process of a credential; that of an earlier one ends first.
   * @param account tells credentials apart
   * @param env variables besides those that every process gets
   * @param secrets values that no text may repeat, besides those of the variables
   */
  with(account: string, env: Readonly<Record<string, string>>, secrets: readonly string[]): Kept {
    if (this.#kept !== undefined && (this.#account === account || this.#closed)) {
      return this.#kept;
    }
    const { launch, secrets: common } = this.#options;
    const redact = redactor([...common, ...secrets, ...Object.values(env)]);
    const supervisor = new Supervisor({
      ...this.#options,
      launch: { ...launch, env: { ...launch.env, ...env } },
      redact,
      after: this.#kept?.supervisor.close(),
    });
    this.#account = account;
    this.#kept = { supervisor, redact };
    if (this.#closed) void supervisor.close();
    return this.#kept;
  }

  /** The end of what the process, or the one before it, wrote besides answers. */
  get errorOutput(): string {
    return this.#kept?.supervisor.errorOutput ?? "";
  }

  /** Ends the process and starts no other. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#kept?.supervisor.close();
  }
}
