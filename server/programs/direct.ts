import type { RawBridge } from "./guest.ts";

/** The one thing that an executor of several objects calls its host through. */
export interface Stub {
  call(name: string, json: string): PromiseLike<unknown>;
}

/**
 * Runs inside the sandbox first. An executor's own code looks built-ins up at each call, and a
 * program that changed them could send what it likes, or get hold of what is behind the bridge. So
 * where that can be reached, host calls go there with the built-ins of now.
 * @param stub what is behind the bridge, where the executor has it in scope
 */
export default function direct(bridge: RawBridge, stub: Stub | undefined): RawBridge {
  if (typeof stub?.call !== "function") return bridge;
  const { stringify, parse } = JSON;
  const { apply } = Reflect;
  const { hasOwnProperty } = Object.prototype;
  const PromiseClass = Promise;
  const ErrorClass = Error;
  // Read once: a getter of all objects would be asked for it, and given the stub.
  const { call } = stub;

  const send = (name: string) => (json: string) =>
    new PromiseClass<string>((resolve, reject) => {
      const refuse = () =>
        reject(new ErrorClass("The host gave no answer to connecta." + name + "."));
      const read = (answer: unknown) => {
        const data: unknown = typeof answer === "string" ? parse(answer) : undefined;
        if (typeof data !== "object" || data === null) return refuse();
        if (!apply(hasOwnProperty, data, ["result"])) return refuse();
        const { result } = data as { result: unknown };
        if (typeof result === "string") resolve(result);
        else refuse();
      };
      call(name, "[" + stringify(json) + "]").then(read, refuse);
    });

  const names = ["search", "describe", "call", "batch", "shortcut", "emit", "ui", "arrive"];
  const own: RawBridge = {};
  for (const name of names) own[name] = send(name);
  return own;
}
