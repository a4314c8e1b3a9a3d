/**
 * One request: which of the seven tools, what it may come to, and whether a value is the one that
 * was asked for.
 * @typedef {object} Step
 * @property {string} tool
 * @property {object} args
 * @property {string[]} codes `ok` among them when it may go well
 * @property {(value: any, result: any) => boolean} holds
 * @property {number} [cancelAfterMs] closes the request, answered or not
 * @property {boolean} [cancelled] whether that was meant to come first
 */

const never = () => false;

/** A call of one tool, whose value is the nonce's own. */
function call(address, nonce, more = {}) {
  const { args = {}, codes = ["ok"], ...options } = more;
  return {
    tool: "call_tool",
    args: { address, args: { nonce, ...args }, resultMode: "value", ...options },
    codes,
    holds: ({ data }) => data?.nonce === nonce,
  };
}

/** A program that must come to this value. */
function program(code, expected, codes = ["ok"]) {
  return {
    tool: "execute_code",
    args: { code },
    codes,
    holds: ({ result }) => JSON.stringify(result) === JSON.stringify(expected),
  };
}

const failing = (step, ...codes) => ({ ...step, codes, holds: never });
const quoted = JSON.stringify;

/**
 * A mixed load, each scenario as often as its weight says. A scenario asks one thing after the
 * other and is handed each value, or `undefined` for a failure; a sentence that it resolves to is
 * a violation.
 * @type {Record<string, [weight: number, (ask: (step: Step) => Promise<any>, nonce: string, random: () => number) => Promise<any>]>}
 */
const SCENARIOS = {
  "call, read": [30, (ask, nonce) => ask(call("desk.echo", nonce))],
  "call, slow": [8, (ask, nonce) => ask(call("desk.slow", nonce, { args: { ms: 60 } }))],
  "call, refused": [6, (ask, nonce) => ask(failing(call("desk.refuse", nonce), "not_found"))],
  "call, bad arguments": [
    4,
    (ask, nonce) => ask(failing(call("desk.echo", nonce, { args: { nonce: 5 } }), "invalid_args")),
  ],
  "call, unknown": [4, (ask, nonce) => ask(failing(call(`desk.${nonce}`, nonce), "unknown_tool"))],
  "call, write refused": [
    4,
    (ask, nonce) => ask(failing(call("desk.write", nonce), "destructive_tool_requires_approval")),
  ],
  "call, deadline": [
    3,
    (ask, nonce) =>
      ask(failing(call("desk.slow", nonce, { args: { ms: 5_000 }, timeoutMs: 40 }), "timeout")),
  ],
  write: [
    5,
    (ask, nonce) =>
      ask({
        tool: "call_destructive_tool",
        args: { address: "desk.write", args: { nonce }, reason: "the soak" },
        codes: ["ok"],
        holds: ({ data }) => data?.written === nonce,
      }),
  ],
  pages: [2, readInPages],
  search: [
    5,
    (ask) =>
      ask({
        tool: "search_tools",
        args: { query: "give the nonce back" },
        codes: ["ok"],
        holds: ({ connectors }) => connectors.some(({ id }) => id === "desk"),
      }),
  ],
  authorize: [
    2,
    (ask) =>
      ask({
        tool: "authorize_connector",
        args: { connector: "desk" },
        codes: ["ok"],
        holds: (value) => JSON.stringify(value).includes("desk"),
      }),
  ],
  skills: [
    2,
    (ask) =>
      ask({
        tool: "skills",
        args: {},
        codes: ["ok"],
        holds: (value) => JSON.stringify(value).includes("usage"),
      }),
  ],
  "program, calls": [
    12,
    (ask, nonce) =>
      ask(
        program(
          `const n = ${quoted(nonce)}; const all = await connecta.batch([1, 2, 3].map((at) =>
          ({ address: "desk.echo", args: { nonce: n + at } })));
          return [(await desk.echo({ nonce: n })).nonce, ...all.map((one) => one.data.nonce)]`,
          [nonce, `${nonce}1`, `${nonce}2`, `${nonce}3`],
        ),
      ),
  ],
  "program, waits": [
    6,
    (ask, nonce) =>
      ask(program(`return (await desk.slow({ nonce: ${quoted(nonce)}, ms: 80 })).nonce`, nonce)),
  ],
  "program, computes": [
    4,
    (ask, nonce) =>
      ask(
        program(
          `let sum = 0; for (let i = 0; i < 200000; i++) sum += i % 7; return [sum, ${quoted(nonce)}]`,
          [599_994, nonce],
        ),
      ),
  ],
  "program, throws": [
    4,
    (ask, nonce) => ask(failing(program(`throw new Error(${quoted(nonce)})`), "program_error")),
  ],
  "program, broken": [
    2,
    (ask, nonce) => ask(failing(program(`return {{ ${quoted(nonce)}`), "invalid_program")),
  ],
  "program, endless": [1, (ask) => ask(failing(program("for (;;);"), "executor_limit"))],
  view: [
    5,
    (ask, nonce) =>
      ask({
        ...program(
          `await connecta.ui(${quoted(`<p>${nonce}</p>`)}, { reads: { now: { address: "desk.echo" } } });
          return ${quoted(nonce)}`,
          nonce,
        ),
        holds: ({ result, ui }, { _meta }) =>
          result === nonce && ui === true && _meta["connecta/ui"].html.includes(nonce),
      }),
  ],
  "cancelled call": [
    5,
    (ask, nonce, random) =>
      ask({ ...call("desk.slow", nonce, { args: { ms: 4_000 } }), ...cancelled(random) }),
  ],
  "cancelled program": [
    5,
    (ask, nonce, random) => {
      const code = `for (let i = 0; i < 9; i++) await desk.slow({ nonce: ${quoted(nonce)}, ms: 500 })`;
      return ask({ ...program(code), ...cancelled(random) });
    },
  ],
  "remote, read": [6, (ask, nonce) => ask(call("far.echo", nonce))],
  "remote, isError": [
    2,
    (ask, nonce) => ask(failing(call("far.refuse", nonce), "connector_call_failed")),
  ],
  "remote, hangs": [
    2,
    (ask, nonce) => ask(failing(call("far.hang", nonce, { timeoutMs: 60 }), "timeout")),
  ],
  "remote, no JSON": [
    2,
    (ask, nonce) => ask(failing(call("far.garbage", nonce), "connector_call_failed")),
  ],
  "remote, drops": [2, (ask, nonce) => ask(failing(call("far.crash", nonce), "unavailable"))],
  "nobody there": [2, (ask, nonce) => ask(failing(call("gone.echo", nonce), "unavailable"))],
  // A crash takes with it what others asked of the same process.
  "child, read": [
    6,
    (ask, nonce) => ask(call("child.echo", nonce, { codes: ["ok", "unavailable"] })),
  ],
  "child, crashes": [1, (ask, nonce) => ask(failing(call("child.crash", nonce), "unavailable"))],
  "child, no JSON": [
    1,
    (ask, nonce) =>
      ask(failing(call("child.garbage", nonce, { timeoutMs: 80 }), "timeout", "unavailable")),
  ],
};

function cancelled(random) {
  return { codes: [], holds: never, cancelAfterMs: random() * 300, cancelled: true };
}

/** Follows the pages of a long answer blindly, to what must be every byte of it. */
async function readInPages(ask, nonce) {
  const chars = 60_000;
  let next;
  await ask({
    ...call("desk.big", nonce, { args: { chars } }),
    holds: ({ truncated, nextAction }) => {
      next = nextAction;
      return truncated === true && next?.tool === "get_result";
    },
  });
  let text = "";
  while (next) {
    const { arguments: args } = next;
    const page = await ask({
      tool: "get_result",
      args,
      codes: ["ok"],
      holds: ({ text: part }) => typeof part === "string",
    });
    text += page?.text ?? "";
    next =
      page?.nextOffset === undefined
        ? undefined
        : { arguments: { ...args, offset: page.nextOffset } };
  }
  // Nothing of it when the first answer was wrong already, which is known by now.
  const isWhole = text === "" || text.includes(`${"é".repeat(chars)}${nonce}`);
  return isWhole ? undefined : `pages: ${nonce} is not in the pages of its own answer`;
}

const TOTAL = Object.values(SCENARIOS).reduce((sum, [weight]) => sum + weight, 0);

/** One of the scenarios, by their weights. */
export function draw(random) {
  let left = random() * TOTAL;
  for (const [name, [weight, act]] of Object.entries(SCENARIOS)) {
    left -= weight;
    if (left < 0) return { name, act };
  }
  throw new Error("weights do not add up");
}
