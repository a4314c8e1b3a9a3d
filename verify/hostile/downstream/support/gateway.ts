import { createConnecta, type Connecta, type Connector } from "../../../../server/index.ts";
import { post } from "../../../support/messages.ts";

/** What a tool of ours answered, as far as tests look into it. */
export interface Answer {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** A gateway in front of these connectors; programs cannot run in it. */
export interface Gateway {
  /** Calls one of the seven tools. */
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** A tool of a connector, called through `call_tool`. */
  tool(address: string, args?: object, more?: object): Promise<Answer>;
  /** The code of the failure that a tool's call ended with; `ok` without one. */
  codeOf(address: string, args?: object, more?: object): Promise<string>;
  /** Everything that every conversation loads, as one text. */
  alwaysLoaded(): Promise<string>;
  close(): Promise<void>;
}

/** Assembles a gateway. */
export function gateway(...connectors: readonly Connector[]): Gateway {
  const executor = { execute: () => Promise.resolve({ result: undefined, error: "no programs" }) };
  const connecta = createConnecta({ connectors, executor, log: () => undefined });
  const call: Gateway["call"] = async (name, args = {}) =>
    (await rpc(connecta, "tools/call", { name, arguments: args })) as Answer;
  const tool: Gateway["tool"] = (address, args = {}, more = {}) =>
    call("call_tool", { address, args, ...more });
  return {
    call,
    tool,
    async codeOf(address, args, more) {
      const { isError, structuredContent } = await tool(address, args, more);
      const error = structuredContent?.error as { readonly code?: string } | undefined;
      return isError ? (error?.code ?? "no code") : "ok";
    },
    async alwaysLoaded() {
      const hello = {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      };
      const all = [await rpc(connecta, "initialize", hello), await rpc(connecta, "tools/list", {})];
      return JSON.stringify(all);
    },
    close: () => connecta.close(),
  };
}

async function rpc(connecta: Connecta, method: string, params: object): Promise<unknown> {
  const { text } = await post("http://127.0.0.1:8787", method, params, {
    headers: { host: "127.0.0.1:8787" },
    fetch: (request) => connecta.fetch(request),
  });
  return (JSON.parse(text) as { readonly result: unknown }).result;
}
