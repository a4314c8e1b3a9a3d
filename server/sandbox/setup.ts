import type { Provider } from "../shared/contracts.ts";
import type { ExecuteLimits } from "../shared/limits.ts";

/** A prelude is the deployment's own code; this only keeps a mistake from hanging the process. */
export const PRELUDE_MS = 1_000;

/** The limits that the sandbox process itself enforces. */
const GUEST_LIMITS = [
  "cpuMs",
  "heapBytes",
  "processHeapBytes",
  "stackBytes",
  "maxArgumentBytes",
  "maxResultBytes",
] as const satisfies readonly (keyof ExecuteLimits)[];

/** Limits of one guest, in the units of {@link ExecuteLimits}. */
export type GuestLimits = Pick<ExecuteLimits, (typeof GUEST_LIMITS)[number]>;

/** What the runs of one deployment have in common; interpreters are prepared ahead for it. */
export interface Setup {
  readonly providers: readonly {
    readonly name: string;
    readonly functions: readonly string[];
    readonly prelude?: string;
  }[];
  readonly limits: GuestLimits;
}

/** A setup under the number that the processes of one pool know it by. */
export interface NumberedSetup {
  readonly id: number;
  readonly setup: Setup;
}

/** Describes providers and limits as a sandbox process needs to know them. */
export function setupOf(providers: readonly Provider[], limits: ExecuteLimits): Setup {
  return {
    providers: providers.map(({ name, fns, prelude }) => ({
      name,
      functions: Object.keys(fns),
      ...(prelude !== undefined && { prelude }),
    })),
    limits: {
      cpuMs: limits.cpuMs,
      heapBytes: limits.heapBytes,
      processHeapBytes: limits.processHeapBytes,
      stackBytes: limits.stackBytes,
      maxArgumentBytes: limits.maxArgumentBytes,
      maxResultBytes: limits.maxResultBytes,
    },
  };
}

/** Whether a setup serves these providers and limits; compares, so that no run builds a key. */
export function servesSetup(
  setup: Setup,
  providers: readonly Provider[],
  limits: ExecuteLimits,
): boolean {
  if (setup.providers.length !== providers.length) return false;
  if (GUEST_LIMITS.some((name) => setup.limits[name] !== limits[name])) return false;
  return setup.providers.every((known, at) => {
    const provider = providers[at];
    if (provider?.name !== known.name || provider.prelude !== known.prelude) return false;
    const names = Object.keys(provider.fns);
    return (
      names.length === known.functions.length &&
      known.functions.every((name, index) => names[index] === name)
    );
  });
}
