import type { CredentialNeed, Credentials } from "./credentials.ts";
import type { CallLimits } from "./call-limits.ts";
import type { ExecuteLimits } from "./limits.ts";
import type { Failure, Outcome } from "./failure.ts";
import type { OutboundFetch } from "./outbound.ts";
import type { Scope } from "./scope.ts";

/** Any JSON Schema (2020-12 as far as we validate it). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Tool annotations as a connector declares them; values are not trusted to be booleans. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** One tool of a connector, as its catalog lists it. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** `config` when the deployment decided the read-only hint. */
  readonly annotationSource?: "config";
}

/** An MCP content block; kinds that we do not know pass through unchanged. */
export interface ContentBlock {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** What a tool answered: a plain value (`api()`) or an MCP tool result. */
export type ToolResult =
  | { readonly kind: "value"; readonly value: unknown }
  | {
      readonly kind: "mcp";
      readonly content: readonly ContentBlock[];
      readonly structuredContent?: unknown;
      readonly isError?: boolean;
    };

/** What a deployment decides about tools of a connector, by exact name. */
export interface ToolPolicy {
  /** Tools that only read, as somebody found who looked, although they do not say so. */
  readonly readOnly?: readonly string[];
  /** Tools that a person approves each time, whatever they say of themselves. */
  readonly approval?: readonly string[];
  /** Tools that nobody finds, sees or calls. */
  readonly hide?: readonly string[];
}

/** A tool that a server listed and that cannot be called safely, for the operator to read. */
export interface SetAside {
  readonly name: string;
  /** One sentence. */
  readonly reason: string;
}

/** One configured integration. */
export interface Connector {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  /** `api` answers values, `mcp` answers content blocks: decides `call_tool`'s default mode. */
  readonly kind: "api" | "mcp";
  /** A guide for models, served by `skills`. */
  readonly usageGuide?: string;
  /** Whether the tool list can never change while the process lives. */
  readonly staticCatalog?: boolean;
  /** Applied once, where a catalog is made: `listTools` gives the tools as they are. */
  readonly policy?: ToolPolicy;
  /** How much it may be asked for; applied where a call is attempted. */
  readonly limits?: CallLimits;
  listTools(scope: Scope): Promise<Outcome<readonly Tool[]>>;
  callTool(name: string, args: unknown, scope: Scope): Promise<Outcome<ToolResult>>;
  /**
   * What it leads to, such as a URL or a command: of another identity are other tools. Without one
   * a catalog is not kept across restarts. It is hashed before it is stored anywhere.
   */
  identity?(): string;
  /** What the last list held and `listTools` left out. */
  setAside?(): readonly SetAside[];
  /** What the server calls itself, once it was reached: discovery finds its tools by it too. */
  ownTitle?(): string | undefined;
  /** Calls back whenever the integration says that its tools are others now. */
  onToolsChanged?(listener: () => void): void;
  /** The end of what its process wrote besides answers, for the operator and never for a model. */
  errorOutput?(): string;
  /** What its calls authenticate with, where a person hands that over. */
  readonly credential?: CredentialNeed;
  /** Lends it where that comes from; called once, before anything else. */
  useCredentials?(source: Credentials): void;
  /**
   * Finds out whether the credential works, in a sentence; listing the tools does when this is
   * absent.
   */
  testCredential?(scope: Scope): Promise<Outcome<string>>;
  /** Lends it what it makes its requests with; called once, before anything else. */
  useFetch?(fetch: OutboundFetch): void;
  /** What a person must do before calls work; absent when there is nothing to authorise. */
  authorize?(scope: Scope, force: boolean): Promise<Outcome<Readonly<Record<string, unknown>>>>;
  close?(): Promise<void>;
}

/** A namespace inside the sandbox; structurally `ResolvedProvider` of `@cloudflare/codemode`. */
export interface Provider {
  readonly name: string;
  readonly fns: Record<string, (...args: unknown[]) => Promise<unknown>>;
  /**
   * JavaScript run in the sandbox after the namespace exists and before the program. In our own
   * executor `namespace[Symbol.for("sandbox.decode")](read)` lets it read every text that a
   * function answers; the program is not charged for what that costs.
   */
  readonly prelude?: string;
}

/** What an executor hands back; structurally `ExecuteResult` of `@cloudflare/codemode`. */
export interface ExecuteResult {
  result: unknown;
  error?: string;
  logs?: string[];
}

/** Timings of one run that an executor may report, in milliseconds. */
export interface RunTimings {
  readonly setupMs?: number;
  readonly cpuMs?: number;
}

/** Options that our own executor honours and a foreign one may ignore. */
export interface ExecuteOptions {
  readonly signal?: AbortSignal;
  readonly limits?: ExecuteLimits;
  /** Called at most once, before `execute` resolves, when the run itself was ended. */
  readonly onFailure?: (failure: Failure) => void;
  readonly onTimings?: (timings: RunTimings) => void;
  /** Called once for each answer of a host function, in their order, when it left the process. */
  readonly onAnswerSent?: () => void;
  /** An option of `@cloudflare/codemode` that we have no use for. */
  readonly connectors?: never[];
}

/** Runs one program in isolation. */
export interface Executor {
  readonly name?: string;
  /** Whether it calls {@link ExecuteOptions.onAnswerSent}: until then an answer takes memory. */
  readonly tellsAnswersSent?: boolean;
  execute(code: string, providers: Provider[], options?: ExecuteOptions): Promise<ExecuteResult>;
  /** Told once what all runs of a deployment have in common, so that it can get ready for them. */
  prepare?(providers: readonly Provider[], limits: ExecuteLimits): void;
  close?(): Promise<void>;
}
