import type { Connector } from "../shared/contracts.ts";
import type { Challenge, CredentialNeed, Credentials, Held } from "../shared/credentials.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import type { Scope } from "../shared/scope.ts";

/** What a connector holds that needs no credential. */
const NOTHING: Held = { values: {}, account: "" };

/** The credential of one connector, as its deployment lends it. */
export class Lent {
  readonly #id: string;
  readonly #need: CredentialNeed | undefined;
  #source: Credentials | undefined;

  /** @param need absent for a connector that needs none */
  constructor(id: string, need: CredentialNeed | undefined) {
    this.#id = id;
    this.#need = need;
  }

  /**
   * The part of a connector that is about its credential; nothing where it needs none.
   * @param changed called whenever a person handed over something else
   */
  part(changed: () => void): Partial<Connector> {
    if (this.#need === undefined) return {};
    return {
      credential: this.#need,
      useCredentials: (source) => {
        this.#source = source;
        source.onChange(changed);
      },
      authorize: async (scope, force) => this.#source?.authorize(scope, force) ?? this.#missing(),
    };
  }

  /** What to authenticate with now. */
  async current(scope: Scope): Promise<Outcome<Held>> {
    if (this.#need === undefined) return ok(NOTHING);
    return this.#source?.current(scope) ?? this.#missing();
  }

  /** What to try instead of what a server refused; nothing where there was no credential. */
  async renew(
    refused: Held,
    challenge: Challenge,
    scope: Scope,
  ): Promise<Outcome<Held> | undefined> {
    if (this.#need === undefined) return undefined;
    return this.#source?.renew(refused, challenge, scope) ?? this.#missing();
  }

  /** A connector outside of a deployment, which alone has what it needs. */
  #missing(): Outcome<never> {
    return fail("auth_required", `${this.#id} needs a credential, and nobody lent it one.`);
  }
}
