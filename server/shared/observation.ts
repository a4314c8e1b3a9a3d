import type { ActivitySource } from "./activity.ts";
import { knownCode, type FailureCode } from "./failure.ts";
import type { Admission } from "./permits.ts";
import type { Scope } from "./scope.ts";

/** The queues that hold work back. */
export type QueueName = "requests" | "runs" | "connectors";

/** What is observed while it goes on. Known names alone: what a caller wrote has no place here. */
export type Subject =
  | { readonly kind: "request"; readonly tool: string }
  | { readonly kind: "run" }
  | CallSubject
  | { readonly kind: "load"; readonly connector: string };

/** A call; what it leads to is filled in once its address is resolved. */
export interface CallSubject {
  readonly kind: "call";
  readonly source: ActivitySource;
  /** Id of a connector of the deployment. */
  connector?: string;
  /** Name of a tool of its catalog. */
  tool?: string;
  attempts: number;
}

/** How something ended. */
interface Ending {
  /** Milliseconds from its begin. */
  readonly ms: number;
  /** Absent when it went well. */
  readonly code?: FailureCode;
  /** Of the request that it belongs to. */
  readonly requestId: string;
}

/** One place in a queue that was given or refused. */
export interface AdmissionSeen {
  readonly kind: "admission";
  readonly queue: QueueName;
  readonly ms: number;
  /** Absent when it was given. */
  readonly refused?: Extract<Admission, { ok: false }>["reason"];
  readonly requestId: string;
}

/** Something that ended: ids, numbers and codes, and no field that could hold anything else. */
export type Observation = (Subject & Ending) | AdmissionSeen;

/** Follows one piece of work to its end. */
export interface Following {
  /** What the work's own parts are observed under. */
  readonly trace: Trace;
  /** Does the work where an instrumented library sees it as the parent of its own. */
  within<T>(work: () => T): T;
  /** @param code absent when it went well */
  end(code: FailureCode | undefined): void;
}

/** Where the work of one request is observed. */
export interface Trace {
  begin(subject: Subject, requestId: string): Following;
  admitted(seen: AdmissionSeen): void;
}

/** How full a queue is now. */
export interface QueueState {
  readonly active: number;
  readonly waiting: number;
}

/** Somebody who counts, such as the metrics of a runtime. */
export interface Measures {
  observe(seen: Observation): void;
  /** Told once, when the deployment is assembled, what it may look at whenever it is asked. */
  watch(queues: Readonly<Partial<Record<QueueName, QueueState>>>): void;
}

/**
 * Does some work and, where somebody observes, tells them when it began and how it ended.
 * @param codeOf the code of what the work came to; `undefined` when it went well
 */
export async function observed<T>(
  scope: Scope,
  subject: Subject,
  work: (scope: Scope) => Promise<T>,
  codeOf: (done: T) => FailureCode | undefined,
): Promise<T> {
  if (scope.trace === undefined) return work(scope);
  const following = scope.trace.begin(subject, scope.requestId);
  let code: FailureCode | undefined = "internal";
  try {
    const done = await following.within(() => work({ ...scope, trace: following.trace }));
    const said = codeOf(done);
    // A connector that is not of ours may fail with a word of its own.
    code = said === undefined ? undefined : (knownCode(said) ?? "internal");
    return done;
  } finally {
    following.end(code);
  }
}

/** Tells, where somebody observes, that a place in a queue was given or refused. */
export function sawAdmission(scope: Scope, queue: QueueName, admission: Admission): void {
  const common = { kind: "admission", queue, requestId: scope.requestId } as const;
  scope.trace?.admitted(
    admission.ok
      ? { ...common, ms: admission.waitedMs }
      : { ...common, ms: 0, refused: admission.reason },
  );
}
