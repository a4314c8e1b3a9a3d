import { fail, ok, type Outcome } from "./failure.ts";

/**
 * JSON text of a value that code of this process produced (never of guest code).
 * @param what subject of the message when the value has no JSON form
 */
export function toJson(value: unknown, what: string): Outcome<string> {
  try {
    return ok(JSON.stringify(value) ?? "null");
  } catch {
    return fail("not_serializable", `${what} has no JSON form (a cycle or a BigInt).`);
  }
}
