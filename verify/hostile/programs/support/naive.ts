import { createContext, runInContext } from "node:vm";
import type { Ended } from "./gateway.ts";

/** A tool's answer as the naive host sends it. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  read: { ok: true, value: { name: "a record", items: [1, 2, 3] } },
  gone: { ok: false, code: "connector_call_failed", message: "It failed." },
};

/** A bridge that uses, after the program has begun, what the program can change. */
const BRIDGE = `(send) => {
  const call = async (tool) => {
    const reply = JSON.parse(await send(JSON.stringify({ tool })));
    if (reply.ok === false) throw Object.assign(new Error(reply.message), { code: reply.code });
    return reply.value ?? reply;
  };
  globalThis.data = { read: () => call("read"), gone: () => call("gone") };
  globalThis.connecta = { call: (address) => call(address.split(".")[1]) };
  globalThis.$connecta = (_, program) =>
    program().then(
      (value) => JSON.stringify({ ok: true, value }),
      (error) => JSON.stringify({ ok: false, code: error.code ?? "program_error" }),
    );
}`;

/** How a program ends on a bridge that trusts it. */
export async function onNaiveBridge(program: string): Promise<Ended> {
  const context = createContext({});
  const install = runInContext(BRIDGE, context) as (send: (text: string) => unknown) => void;
  install(async (text) => {
    const { tool } = JSON.parse(text) as { tool?: string };
    return JSON.stringify(ANSWERS[tool ?? "read"] ?? ANSWERS["read"]);
  });
  const ended: unknown = runInContext(`$connecta(new Error(), (\n${program}\n))`, context);
  const text = await (ended as PromiseLike<unknown>);
  const answer = read(text);
  if (answer.ok === true) return { code: "ok", result: answer.value };
  return { code: String(answer.code), result: answer.value };
}

function read(text: unknown): { ok?: unknown; value?: unknown; code?: unknown } {
  if (typeof text !== "string") return { ok: true, value: text };
  const answer: unknown = JSON.parse(text);
  return typeof answer === "object" && answer !== null ? answer : { ok: true, value: answer };
}
