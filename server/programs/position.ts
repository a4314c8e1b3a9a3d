/** Reads from an error's stack where a program threw it: JSON members, or nothing. */
export type Position = (error: Error, marker: Error) => string;

/**
 * Runs inside the sandbox before the program, whose changes to built-ins must not reach it: makes
 * the function that finds the first frame of a stack in the file of a marker, below its line.
 */
export default function position(): Position {
  const { create, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { apply } = Reflect;
  const ErrorClass = Error;
  const exec = RegExp.prototype.exec;
  const { indexOf, slice } = String.prototype;
  const framePattern = /(?:at (?:new )?(\S+) \()?([^\s()@]+):(\d+):(\d+)\)?\s*(?:\n|$)/g;
  /** More frames than are ever kept; what is no frame would cost the square of its length. */
  const maxChars = 16_384;

  /** Names of an error's own classes: their frames say where they are written, not where it is thrown. */
  function constructorsOf(error: Error): Record<string, boolean> {
    const names = create(null) as Record<string, boolean>;
    let prototype: unknown = getPrototypeOf(error);
    for (let i = 0; i < 8 && typeof prototype === "object" && prototype !== null; i++) {
      if (prototype === ErrorClass.prototype) return names;
      const own = getOwnPropertyDescriptor(prototype, "constructor")?.value as unknown;
      const name =
        typeof own === "function" ? getOwnPropertyDescriptor(own, "name")?.value : undefined;
      if (typeof name === "string") names[name] = true;
      prototype = getPrototypeOf(prototype);
    }
    return names;
  }

  /** The frames alone: some engines write the message above them. */
  function framesOf({ stack, message }: Error): string | undefined {
    if (typeof stack !== "string") return undefined;
    const at = typeof message === "string" ? apply(indexOf, stack, [message]) : -1;
    const from = at < 0 ? 0 : at + message.length;
    return apply(slice, stack, [from, from + maxChars]);
  }

  return (error, marker) => {
    framePattern.lastIndex = 0;
    const origin = apply(exec, framePattern, [marker.stack ?? ""]) as RegExpExecArray | null;
    framePattern.lastIndex = 0;
    const frames = framesOf(error);
    if (!origin || frames === undefined) return "";
    const constructors = constructorsOf(error);
    for (;;) {
      const frame = apply(exec, framePattern, [frames]) as RegExpExecArray | null;
      if (!frame) return "";
      const line = +(frame[3] ?? 0) - +(origin[3] ?? 0);
      if (frame[2] !== origin[2] || line <= 0 || constructors[frame[1] ?? ""]) continue;
      return ',"line":' + line + ',"column":' + frame[4];
    }
  };
}
