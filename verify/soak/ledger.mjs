/** Every code that a failure may have, by hand from what is promised. */
const CODES = new Set(
  (
    "unknown_address unknown_tool ambiguous_tool_alias destructive_tool_requires_approval " +
    "auth_required invalid_args invalid_program program_error not_serializable not_found " +
    "input_required_unsupported rate_limited unavailable timeout cancelled connector_call_failed " +
    "catalog_lookup_failed result_too_large budget_exceeded executor_overloaded executor_timeout " +
    "executor_limit executor_crashed executor_cancelled executor_closed internal"
  ).split(" "),
);

const MOST_KEPT = 50;

/** Keeps account of every request: answered once, with its own value, or failed with a code. */
export class Ledger {
  /** Sentences about what must not be. */
  violations = [];
  #rows = new Map();

  /**
   * Looks at what came back for one request.
   * @param {string} id
   * @param {import("./scenarios.mjs").Step & { scenario: string }} step
   * @param {{ messages: any[], problem?: string, ms: number }} came
   * @returns {any} the result, when there is exactly one and nothing is wrong with it
   */
  settle(id, step, { messages, problem, ms }) {
    const row = this.#row(step.scenario);
    row.sent++;
    if (step.cancelled && messages.length === 0) {
      row.cancelled++;
      return undefined;
    }
    const wrong = (what) => this.blame(`${step.scenario}: ${id} ${what}`);
    if (messages.length !== 1) {
      return wrong(`was answered ${messages.length} times${problem ? ` (${problem})` : ""}`);
    }
    const [message] = messages;
    if (message.id !== id) return wrong(`was given somebody else's answer, ${message.id}`);
    const { result } = message;
    if (result === undefined) return wrong(`failed without a result: ${message.error?.code}`);
    row.ms.push(ms);
    const code = result.isError ? codeOf(result) : "ok";
    row.codes.set(code, (row.codes.get(code) ?? 0) + 1);
    if (code !== "ok" && !CODES.has(code)) return wrong(`failed with ${code}, no code of ours`);
    if (!step.codes.includes(code)) return wrong(`came to ${code}, not to ${step.codes}`);
    if (code !== "ok") return undefined;
    const value = result.structuredContent;
    if (!step.holds(value, result)) return wrong(`was given a value that is not its own`);
    return value;
  }

  /** Writes something down that must not be; of very many the first ones. */
  blame(sentence) {
    if (this.violations.length < MOST_KEPT) this.violations.push(sentence);
  }

  /** What was asked for, and what it came to. */
  rows() {
    return [...this.#rows.values()];
  }

  #row(scenario) {
    const known = this.#rows.get(scenario);
    if (known) return known;
    const row = { scenario, sent: 0, cancelled: 0, codes: new Map(), ms: [] };
    this.#rows.set(scenario, row);
    return row;
  }
}

function codeOf({ structuredContent }) {
  const error = structuredContent?.error;
  const isTyped = typeof error?.message === "string" && typeof error.retryable === "boolean";
  return isTyped ? error.code : "(nothing)";
}
