import type { CredentialField, Credentials, FieldsNeed, Held } from "../shared/credentials.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { utf8Length } from "../shared/text.ts";
import { Listeners } from "./listeners.ts";
import type { Opened, Place, Vault } from "./vault.ts";

/** What an operator may know of one field. */
export interface FieldState extends CredentialField {
  readonly state: "missing" | "set" | "unreadable";
  /** The last four characters of a long value, to tell which one it is. */
  readonly ending?: string;
  /** Why it cannot be read. */
  readonly message?: string;
}

/** Four of fewer would be too much of the whole. */
const MIN_CHARS_WITH_ENDING = 16;
const ENDING_CHARS = 4;
/** The end of a seal is never the same twice. */
const MARK_CHARS = 22;

/** The values that a person handed over for one connector. */
export class FieldCredentials implements Credentials {
  readonly #connector: string;
  readonly #need: FieldsNeed;
  readonly #vault: Vault;
  readonly #where: () => string;
  readonly #listeners = new Listeners();

  /** @param where tells a person in a sentence how to hand the values over */
  constructor(connector: string, need: FieldsNeed, vault: Vault, where: () => string) {
    this.#connector = connector;
    this.#need = need;
    this.#vault = vault;
    this.#where = where;
  }

  async current(): Promise<Outcome<Held>> {
    const read = await this.#read();
    const values: Record<string, string> = {};
    let account = "";
    for (const [field, opened] of read) {
      if (!opened.ok) return opened;
      if (opened.value === undefined) return this.#missing(field);
      values[field.name] = opened.value.text;
      account += opened.value.sealed.slice(-MARK_CHARS);
    }
    return ok({ values, account });
  }

  renew(): Promise<Outcome<Held>> {
    const text = `The server of ${this.#connector} does not accept its credential.`;
    return Promise.resolve(fail("auth_required", text, { connector: this.#connector }));
  }

  async authorize(_: unknown, force: boolean): Promise<Outcome<Readonly<Record<string, unknown>>>> {
    const held = await this.current();
    const isThere = held.ok && !force;
    return ok({
      status: isThere ? "credential_set" : "credential_needed",
      message: isThere
        ? `The credential of ${this.#connector} is there. If its server refuses it, the person ` +
          `who runs this gateway replaces it: ${this.#where()}`
        : `Ask the person who runs this gateway to hand the credential over: ${this.#where()}`,
      ...(this.#need.instructions !== undefined && { instructions: this.#need.instructions }),
    });
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** What an operator may know of each field. */
  async states(): Promise<readonly FieldState[]> {
    return (await this.#read()).map(([field, opened]) => {
      if (!opened.ok) return { ...field, state: "unreadable", message: opened.failure.message };
      if (opened.value === undefined) return { ...field, state: "missing" };
      const ending = endingOf(opened.value.text);
      return { ...field, state: "set", ...(ending !== undefined && { ending }) };
    });
  }

  /**
   * Puts values in the place of what was there; other fields stay.
   * Failures: `invalid_args` for a name that is no field and for a value that cannot be one.
   */
  async set(values: Readonly<Record<string, string>>): Promise<Outcome<void>> {
    for (const [name, value] of Object.entries(values)) {
      const problem = this.#problem(name, value);
      if (problem !== undefined) return fail("invalid_args", problem);
    }
    for (const [name, value] of Object.entries(values)) {
      const written = await this.#vault.write(this.#place(name), value);
      if (!written.ok) return written;
    }
    this.#listeners.call();
    return ok(undefined);
  }

  /** Removes every value, or that of one field. */
  async remove(only?: string): Promise<Outcome<void>> {
    for (const { name } of this.#need.fields) {
      if (only !== undefined && only !== name) continue;
      const removed = await this.#vault.remove(this.#place(name));
      if (!removed.ok) return removed;
    }
    this.#listeners.call();
    return ok(undefined);
  }

  #read(): Promise<(readonly [CredentialField, Outcome<Opened | undefined>])[]> {
    return Promise.all(
      this.#need.fields.map(
        async (field) => [field, await this.#vault.read(this.#place(field.name))] as const,
      ),
    );
  }

  #place(field: string): Place {
    return { purpose: "field", connector: this.#connector, field };
  }

  #missing({ title }: CredentialField): Outcome<never> {
    const { instructions } = this.#need;
    const hint = instructions === undefined ? "" : ` ${instructions}`;
    const text = `${this.#connector} needs a credential that nobody handed over: ${title}.${hint}`;
    return fail("auth_required", text, { connector: this.#connector });
  }

  #problem(name: string, value: string): string | undefined {
    const names = this.#need.fields.map((field) => field.name);
    if (!names.includes(name)) {
      return `The credential of ${this.#connector} has no such field; it has: ${names.join(", ")}.`;
    }
    if (value === "") return `${name} is empty.`;
    if (/[\p{Surrogate}\0]/u.test(value)) return `${name} is no text.`;
    const most = LIMITS.credentialBytes.value;
    return utf8Length(value) > most ? `${name} has more than ${most} bytes.` : undefined;
  }
}

/** The end of a value that is long enough to keep the rest of it secret. */
function endingOf(value: string): string | undefined {
  const chars = [...value];
  return chars.length < MIN_CHARS_WITH_ENDING ? undefined : chars.slice(-ENDING_CHARS).join("");
}
