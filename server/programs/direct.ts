/** The one thing that an executor of several objects calls its host through. */
export interface Stub {
  call(name: string, json: string): PromiseLike<unknown>;
}

/**
 * Asks the host: JSON text in, a reply out (see reply.ts).
 * @param ended called once there is an answer or can be none, whatever became of promises
 */
export type Send = (name: string, json: string, ended: () => void) => Promise<string>;

/**
 * Runs inside the sandbox first. An executor's own code looks built-ins up at each call, and a
 * program that changed them could send what it likes, or get hold of what is behind the bridge. So
 * where that can be reached, host calls go there with the built-ins of now.
 * @param stub what is behind the bridge, where the executor has it in scope
 */
export default function direct(stub: Stub | undefined): Send | undefined {
  if (typeof stub?.call !== "function") return undefined;
  const { stringify, parse } = JSON;
  const { apply } = Reflect;
  const { hasOwnProperty } = Object.prototype;
  const PromiseClass = Promise;
  const ErrorClass = Error;
  // Read once: a getter of all objects would be asked for it, and given the stub.
  const { call } = stub;
  // Who asks on and on a host that is gone would never let go of the processor.
  let patience = 16;

  return (name, json, ended) =>
    new PromiseClass<string>((resolve, reject) => {
      const refuse = () => {
        ended();
        if (patience-- > 0)
          reject(new ErrorClass("The host gave no answer to connecta." + name + "."));
      };
      const read = (answer: unknown) => {
        const data: unknown = typeof answer === "string" ? parse(answer) : undefined;
        if (typeof data !== "object" || data === null) return refuse();
        if (!apply(hasOwnProperty, data, ["result"])) return refuse();
        const { result } = data as { result: unknown };
        if (typeof result !== "string") return refuse();
        ended();
        resolve(result);
      };
      call(name, "[" + stringify(json) + "]").then(read, refuse);
    });
}
