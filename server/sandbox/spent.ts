/** The start of a stretch of computing. */
export interface Burst {
  readonly wall: number;
  readonly cpu: NodeJS.CpuUsage;
}

export function startBurst(): Burst {
  return { wall: performance.now(), cpu: process.cpuUsage() };
}

/**
 * CPU time of this thread since the start, in milliseconds. The process reports the time of all
 * its threads, of which the compiler's belong to nobody's program; wall time is the bound to that.
 */
export function spentMs({ wall, cpu }: Burst): number {
  const elapsed = performance.now() - wall;
  const { user, system } = process.cpuUsage(cpu);
  return Math.min(elapsed, (user + system) / 1000);
}
