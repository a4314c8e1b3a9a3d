import {
  VIEW_LIMITS,
  isPlainObject,
  jsonProblem,
  type Binding,
  type Checked,
} from "../../server/view/protocol.ts";

/**
 * Merges what a view supplied into the fixed arguments of a read.
 * @param supplied anything: it comes from the inner frame
 * @returns a null-prototype object for the host, or the sentence that refuses the read
 */
export function mergeArguments(
  binding: Binding,
  supplied: unknown,
): Checked<Record<string, unknown>> {
  const given = supplied === undefined ? {} : supplied;
  if (!isPlainObject(given)) return refuse("The arguments of a read are an object.");
  const merged: Record<string, unknown> = Object.assign(Object.create(null), binding.fixedArgs);
  for (const key of Object.keys(given)) {
    if (!binding.viewArgs?.includes(key)) {
      return refuse("This read takes no argument of that name from the view.");
    }
    if (given[key] === undefined) continue;
    merged[key] = given[key];
  }
  const problem = jsonProblem(given, VIEW_LIMITS.argumentBytes);
  return problem === undefined ? { ok: true, value: merged } : refuse(`The arguments ${problem}.`);
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
