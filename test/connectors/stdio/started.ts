import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stdioMcp, type StdioMcpOptions } from "../../../server/connectors/stdio/stdio.ts";
import type { LifeTimes } from "../../../server/connectors/stdio/supervisor.ts";
import type { Connector, ToolResult } from "../../../server/shared/contracts.ts";
import type { Outcome } from "../../../server/shared/failure.ts";
import type { Scope } from "../../../server/shared/scope.ts";
import { testScope } from "../../support/scope.ts";

/** The fake server, which behaves as its argument says. */
export const SERVER = fileURLToPath(
  new URL("../../support/downstream/server.mjs", import.meta.url),
);

const open: Connector[] = [];

/** How the fake server behaves, and what else a test decides. */
export interface Started {
  readonly how?: Readonly<Record<string, unknown>>;
  readonly options?: Partial<StdioMcpOptions>;
  readonly times?: Partial<LifeTimes>;
}

/** A connector called `crm` to a fake server of its own; it ends with {@link stopAll}. */
export function started({ how = {}, options = {}, times = {} }: Started = {}): Connector {
  const args = [SERVER, JSON.stringify(how)];
  const crm = stdioMcp({ id: "crm", command: process.execPath, args, ...options }, times);
  open.push(crm);
  return crm;
}

/** Ends what the test started. */
export async function stopAll(): Promise<void> {
  await Promise.all(open.splice(0).map((crm) => crm.close?.()));
}

/** What a tool of the fake server answered, parsed. */
export async function call(
  crm: Connector,
  name: string,
  args: object = {},
  scope: Scope = testScope(),
): Promise<unknown> {
  return valueOf(await crm.callTool(name, args, scope));
}

/** The value in a fake server's answer, or the code of the failure. */
export function valueOf(outcome: Outcome<ToolResult>): unknown {
  if (!outcome.ok) return outcome.failure.code;
  const { value } = outcome;
  const text = value.kind === "mcp" ? value.content[0]?.text : undefined;
  return typeof text === "string" ? JSON.parse(text) : undefined;
}

/** The processes that this one started and that still run. */
export function children(): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => parentOf(pid) === process.pid && isAlive(pid));
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(/^\d+ \(.*\) \S (\d+)/.exec(stat)?.[1]);
  } catch {
    return undefined;
  }
}

/** Whether a process runs; one that nobody has waited for yet does not. */
export function isAlive(pid: unknown): boolean {
  try {
    process.kill(Number(pid), 0);
    const stat = readFileSync(`/proc/${Number(pid)}/stat`, "utf8");
    return !/^\d+ \(.*\) [ZX]/.test(stat);
  } catch {
    return false;
  }
}
