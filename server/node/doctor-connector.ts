import type { CredentialState } from "../access/desk.ts";
import { isExplicitlyReadOnly } from "../catalog/classify.ts";
import { listedBy } from "../catalog/inspect.ts";
import { govern } from "../catalog/policy.ts";
import { suspicion } from "../catalog/suspicion.ts";
import type { Connector, Tool } from "../shared/contracts.ts";
import { isRecord } from "../shared/record.ts";
import { schemaProblem } from "../shared/schema.ts";
import { withDeadline, type Scope } from "../shared/scope.ts";
import { REMOTE_STEPS, whyRemote } from "./doctor-remote.ts";
import { checked, stoppedAt, type Check, type Finding, type Part } from "./doctor-report.ts";
import { STDIO_STEPS, whyStdio, type Started } from "./doctor-stdio.ts";
import { watchWire } from "./doctor-wire.ts";

const LIST_MS = 60_000;
const OF_TOOLS = ["schemas", "annotations"] as const;

/** Follows the way to one connector's tools, up to the first step that fails, and looks at them. */
export async function examine(
  connector: Connector,
  credential: CredentialState | undefined,
  scope: Scope,
): Promise<Part> {
  const target = targetOf(connector);
  const steps = target?.steps ?? (credential === undefined ? ["list"] : ["auth", "list"]);
  const ways = [...steps, ...OF_TOOLS];
  const unusable = unusableCredential(credential);
  if (unusable !== undefined) {
    return { name: connector.id, checks: stoppedAt(ways, "auth", unusable) };
  }
  const wire = target?.url && watchWire(target.url);
  const what = `The tool list of ${connector.id}`;
  const listed = await withDeadline(scope, LIST_MS, what, (inner) => listedBy(connector, inner));
  wire?.close();
  if (listed.ok) {
    const tools = [...steps.map((step) => checked(step)), ...examineTools(connector, listed.value)];
    return { name: connector.id, checks: tools };
  }
  const { failure } = listed;
  const { id } = connector;
  const output = connector.errorOutput?.() ?? "";
  const stopped =
    target?.url && wire
      ? whyRemote(id, target.url, failure, wire)
      : target?.started
        ? whyStdio(id, target.started, failure, output)
        : { step: "list", finding: unlisted(failure.message) };
  return { name: id, checks: stoppedAt(ways, stopped.step, stopped.finding) };
}

function unlisted(cause: string): Finding {
  return { code: "list_failed", cause, fix: "See what the connector does to list its tools." };
}

interface Target {
  readonly steps: readonly string[];
  readonly url?: URL;
  readonly started?: Started;
}

/** What an MCP connector leads to; nothing for one that lives in this process. */
function targetOf(connector: Connector): Target | undefined {
  const identity = connector.identity?.();
  if (connector.kind !== "mcp" || identity === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(identity);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  const [kind, where, , cwd]: unknown[] = parsed;
  if (kind === "http" && typeof where === "string" && URL.canParse(where)) {
    return { steps: REMOTE_STEPS, url: new URL(where) };
  }
  if (kind !== "stdio" || typeof where !== "string") return undefined;
  const folder = typeof cwd === "string" && cwd !== "" ? cwd : ".";
  return { steps: STDIO_STEPS, started: { command: where, cwd: folder } };
}

/** A credential that no key opens fails before anybody is asked. */
function unusableCredential(state: CredentialState | undefined): Finding | undefined {
  if (state === undefined) return undefined;
  const { connector } = state;
  const states = state.kind === "fields" ? state.fields : [state];
  const broken = states.find((one) => one.state === "unreadable");
  if (broken) {
    return {
      code: "credential_unreadable",
      cause: broken.message ?? "The credential cannot be read.",
      fix:
        "Set CONNECTA_VAULT_KEY, or vault.key, to the key it was sealed with, or put that into " +
        `vault.previousKeys; without it: connecta credentials set ${connector}.`,
    };
  }
  const missing = states.find((one) => one.state === "missing");
  if (!missing || state.kind === "oauth") return undefined;
  return {
    code: "credential_missing",
    cause: `Nobody has handed over the credential of ${connector}.`,
    fix: `connecta credentials set ${connector}`,
  };
}

function examineTools(connector: Connector, listed: readonly Tool[]): Check[] {
  const { tools, setAside, warnings } = govern(connector, listed);
  const aside = setAside.map(({ name, reason }) => ({
    code: "tool_set_aside",
    cause: `${name} is set aside: ${reason}`,
    fix: "Its server lists it anew, or hide names it, since nobody can call it.",
  }));
  const invalid = tools.flatMap((tool) => {
    const found = (["inputSchema", "outputSchema"] as const).flatMap((place) => {
      const schema = tool[place];
      const problem = schema === undefined ? undefined : schemaProblem(schema);
      return problem === undefined ? [] : [`${place} of ${tool.name} ${problem}`];
    });
    return found.map((cause) => ({
      code: "schema_invalid",
      cause: `${cause}.`,
      fix: "Its server mends the schema; until then arguments are not checked here.",
    }));
  });
  const policy = warnings.map((cause) => ({
    code: "policy_without_effect",
    cause,
    fix: "Correct the connector's readOnly, approval or hide in the config.",
  }));
  const silent = tools.filter(saysNothing).map(({ name }) => name);
  const doubts = tools.flatMap((tool) => {
    const doubt = isExplicitlyReadOnly(tool) ? suspicion(tool) : undefined;
    return doubt === undefined ? [] : [`${tool.name}: ${doubt}`];
  });
  const annotations = silent.length === 0 ? policy : [unannotated(silent), ...policy];
  return [checked("schemas", [...aside, ...invalid]), checked("annotations", annotations, doubts)];
}

const MAX_NAMES = 10;

function unannotated(names: readonly string[]): Finding {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  const cause = `${names.slice(0, MAX_NAMES).join(", ")}${more} say not whether they only read.`;
  const fix =
    "Name them in the connector's readOnly, or in approval; until then all need approval.";
  return { code: "annotations_missing", cause, fix };
}

function saysNothing({ annotations, annotationSource }: Tool): boolean {
  const given: unknown = annotations;
  if (annotationSource !== undefined) return false;
  if (!isRecord(given)) return true;
  const { readOnlyHint, destructiveHint } = given;
  return typeof readOnlyHint !== "boolean" && destructiveHint !== true;
}
