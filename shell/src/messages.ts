/** What a rejected read carries into the view. */
export interface ReadFailure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** One read, as the inner frame asks for it over its port; the shell trusts no part of it. */
export interface ReadRequest {
  readonly id: number;
  readonly name: string;
  readonly args: unknown;
}

/** The answer to the read of the same `id`. */
export type ReadReply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: ReadFailure };

/** How a view should look now: an explicit scheme, and the host's style variables, resolved. */
export interface Theme {
  readonly scheme: "light" | "dark";
  readonly variables: Readonly<Record<string, string>>;
}

/** What the shell tells the inner document at any time; nothing answers it. */
export type Push =
  | { readonly type: "connecta/theme"; readonly theme: Theme }
  | { readonly type: "connecta/closed"; readonly error: ReadFailure };

/** The one message that the shell takes from the inner window; it carries one port. */
export interface PortOffer {
  readonly type: "connecta/port";
  readonly render: string;
}

/** What installs `connecta.read` in the inner document: the names, never an address. */
export interface ReadsConfig {
  readonly names: readonly string[];
  /** Unpredictable; ties the port to this render. */
  readonly render: string;
}
