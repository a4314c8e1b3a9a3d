import type { Outcome } from "./failure.ts";
import type { Scope } from "./scope.ts";

/** One value that a person fills in. */
export interface CredentialField {
  /** As the connector's code knows it. */
  readonly name: string;
  /** As a person is asked for it. */
  readonly title: string;
  readonly description?: string;
}

/** Values that a person got somewhere and hands over. */
export interface FieldsNeed {
  readonly kind: "fields";
  readonly fields: readonly CredentialField[];
  /** Where a person gets them. */
  readonly instructions?: string;
}

/** A server that takes tokens of an OAuth authorization server. */
export interface OAuthNeed {
  readonly kind: "oauth";
  /** The protected server's URL. */
  readonly resource: string;
  /** Whether a person grants access in a browser, or the client itself is who has it. */
  readonly grant: "authorization_code" | "client_credentials";
  /** A client that somebody registered; without one we register, or name a document. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The client metadata document that stands for us where a server reads such documents. */
  readonly clientMetadataUrl?: string;
  /** What to ask for; what the server names when omitted. */
  readonly scopes?: readonly string[];
  /** The only authorization server to go to; the one that the server names first when omitted. */
  readonly issuer?: string;
}

/** What a connector needs before its calls work. */
export type CredentialNeed = FieldsNeed | OAuthNeed;

/** What a connector authenticates with. */
export interface Held {
  /** Field values; of OAuth `accessToken` alone. */
  readonly values: Readonly<Record<string, string>>;
  /** Another one whenever a person handed over something else; renewing a token keeps it. */
  readonly account: string;
}

/** How a server refused a credential. */
export interface Challenge {
  /** HTTP status: 401, or 403 where less was granted than the call needs. */
  readonly status: number;
  /** The `WWW-Authenticate` header. */
  readonly header: string | undefined;
}

/** Lent to one connector by its deployment: where its credential comes from. */
export interface Credentials {
  /**
   * What to authenticate with now, asked for anew at every call.
   * Failures: `auth_required` while a person has to do something, `unavailable` while a store or an
   * authorization server does not answer, `connector_call_failed` where the operator has to.
   */
  current(scope: Scope): Promise<Outcome<Held>>;
  /** The server refused what it was given: what to try instead, or why there is nothing. */
  renew(refused: Held, challenge: Challenge, scope: Scope): Promise<Outcome<Held>>;
  /**
   * What a person must do, and how far that is.
   * @param force start anew although there is something already
   */
  authorize(scope: Scope, force: boolean): Promise<Outcome<Readonly<Record<string, unknown>>>>;
  /** Calls back whenever a person handed over something else. */
  onChange(listener: () => void): void;
}

/** Names that fields may have. */
const FIELD_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** A field as configurations write it: by its title alone, or whole. */
export type FieldOption = string | { readonly title: string; readonly description?: string };

/** A credential as configurations of connectors write it. */
export interface CredentialOption {
  /** What a person fills in, by the name that the code knows it by. */
  readonly fields: Readonly<Record<string, FieldOption>>;
  /** Where a person gets it; shown to the person, never a secret. */
  readonly instructions?: string;
}

/**
 * Reads the fields of a connector's configuration.
 * @param at where it stands, as a message names it
 * @throws TypeError naming the option and the fix
 */
export function readFields(at: string, option: CredentialOption): FieldsNeed {
  const { fields, instructions } = (option ?? {}) as Partial<CredentialOption>;
  const entries = typeof fields === "object" && fields !== null ? Object.entries(fields) : [];
  if (entries.length === 0) {
    throw new TypeError(`${at}.fields is missing: name what to ask for, { token: "API token" }.`);
  }
  if (instructions !== undefined && typeof instructions !== "string") {
    throw new TypeError(`${at}.instructions is no text.`);
  }
  return {
    kind: "fields",
    fields: entries.map(([name, field]) => readField(`${at}.fields.${name}`, name, field)),
    ...(instructions !== undefined && { instructions }),
  };
}

function readField(at: string, name: string, given: unknown): CredentialField {
  if (!FIELD_NAME.test(name)) {
    throw new TypeError(`${at}: a field's name is a letter, then letters, digits, _ or -.`);
  }
  const field = typeof given === "string" ? { title: given } : given;
  const { title, description } = (field ?? {}) as { title?: unknown; description?: unknown };
  if (typeof title !== "string" || title === "") throw new TypeError(`${at} has no title.`);
  if (description !== undefined && typeof description !== "string") {
    throw new TypeError(`${at}.description is no text.`);
  }
  return { name, title, ...(description !== undefined && { description }) };
}
