import type { LogFormat, LogLevel } from "../shared/log.ts";

/** Where a deployment is written down. */
export interface Sources {
  readonly config: string | undefined;
  readonly mcpConfigs: readonly string[];
}

/** A server to run. */
export interface ServeCommand extends Sources {
  readonly name: "serve" | "dev";
  /** Folder of the built host page. */
  readonly hostPage: string;
  readonly port: number | undefined;
  readonly sandboxPort: number | undefined;
  readonly hostname: string | undefined;
  readonly metrics: boolean;
  readonly logLevel: LogLevel | undefined;
  readonly logFormat: LogFormat | undefined;
}

/** A list of tools to print. */
export interface ToolsCommand extends Sources {
  /** The one connector to list; all of them when omitted. */
  readonly connector: string | undefined;
  readonly json: boolean;
}

/** Recorded calls to print. */
export interface ActivityCommand extends Sources {
  readonly follow: boolean;
  readonly json: boolean;
  readonly connector: string | undefined;
  readonly outcome: "ok" | "failed" | undefined;
  /** How many to begin with. */
  readonly limit: number;
}

/** What to do with the tokens of callers. */
export type TokensCommand = Sources & { readonly json: boolean } & (
    | {
        readonly action: "create";
        readonly token: string;
        /** Milliseconds until it ends. */
        readonly expiresInMs: number | undefined;
      }
    | { readonly action: "list" }
    | { readonly action: "revoke"; readonly token: string }
  );

/** Credentials to look at or to hand over. */
export interface CredentialsCommand extends Sources {
  readonly action: "list" | "set" | "test" | "remove" | "rotate" | "key";
  readonly connector: string | undefined;
  readonly field: string | undefined;
}

/** A program to run. */
export interface RunCommand extends Sources {
  /** `-` for stdin. */
  readonly file: string;
  /** Where its view is saved. */
  readonly view: string | undefined;
  readonly diagnostics: boolean;
}

/** A tool to call. */
export interface CallCommand extends Sources {
  readonly address: string;
  /** JSON, `@file`, or `-` for stdin. */
  readonly args: string | undefined;
  /** Whether it may be one that changes something. */
  readonly write: boolean;
  readonly json: boolean;
}

/** A query to find tools by. */
export interface SearchCommand extends Sources {
  readonly query: string;
  /** Whether to say what each score is made of. */
  readonly explain: boolean;
  readonly connector: string | undefined;
  readonly limit: number;
  readonly json: boolean;
}

/** A deployment to look at. */
export interface DoctorCommand extends Sources {
  /** The one connector to look at; all of them when omitted. */
  readonly connector: string | undefined;
  readonly json: boolean;
}

/** The variable by which the server that `dev` starts knows what it is. */
export const DEV_SERVER = "CONNECTA_DEV_SERVER";

/** A mistake of the person at the command line: one line, exit code 1. */
export class UsageError extends Error {}
