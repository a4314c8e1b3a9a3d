// Every attack with what it must come to; plain JavaScript, so that the benchmark reads it too.
import { CALLS } from "./attacks/calls.mjs";
import { COMPUTING } from "./attacks/computing.mjs";
import { DEPTH } from "./attacks/depth.mjs";
import { FORGING } from "./attacks/forging.mjs";
import { MEMORY } from "./attacks/memory.mjs";
import { NAMES } from "./attacks/names.mjs";
import { POLLUTION } from "./attacks/pollution.mjs";
import { SURROUNDINGS } from "./attacks/surroundings.mjs";
import { VALUES } from "./attacks/values.mjs";

/**
 * @typedef {object} Attack
 * @property {string} title
 * @property {string | (() => string)} program
 * @property {string} code of the error that the run ends with, or "ok"
 * @property {string} [limit] which limit an `executor_limit` names
 * @property {unknown} [result] of a run that is "ok"
 * @property {true} [mayCrash] whether its process may have to be killed, and its neighbours with it
 * @property {"hangs" | "grows" | "breaks" | "fools"} [lands] what it does to an interpreter without
 *   a watch, a heap limit or a stack limit, or to a bridge that trusts its guest
 */

/** @type {readonly { readonly clauses: string, readonly attacks: readonly Attack[] }[]} */
export const GROUPS = [
  { clauses: "L1, L4", attacks: COMPUTING },
  { clauses: "L1, L4", attacks: MEMORY },
  { clauses: "L1, L4", attacks: DEPTH },
  { clauses: "L1, L4", attacks: CALLS },
  { clauses: "P4, E5", attacks: POLLUTION },
  { clauses: "E5", attacks: FORGING },
  { clauses: "A1, E2", attacks: NAMES },
  { clauses: "P3", attacks: VALUES },
  { clauses: "P2", attacks: SURROUNDINGS },
];

/**
 * The source of an attack.
 * @param {Attack} attack
 * @returns {string}
 */
export function sourceOf({ program }) {
  return typeof program === "string" ? program : program();
}
