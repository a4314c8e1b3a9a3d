/** The kinds of things that tools do, by the verbs that stand for them in names and requests. */
const VERBS = {
  one: "get read fetch view retrieve lookup describe check inspect download export see look watch tell explain compare validate verify analyze summarize show",
  many: "list search find query browse count show",
  create:
    "create add new make insert generate register upload import open write draw start build install clone duplicate copy schedule book",
  change:
    "update edit modify set change patch rename move configure adjust toggle assign mark enable disable resolve close restore merge approve replace pause resume scale activate deactivate reschedule",
  remove:
    "delete remove erase destroy drop purge clear wipe uninstall discard revoke unsubscribe archive cancel stop kill terminate detach disable",
  send: "send reply forward publish post notify share invite push broadcast message",
  run: "run execute invoke trigger launch start restart reboot deploy call perform retry",
} as const;

/** Openings of a question: whoever asks wants to read, whatever verbs follow. */
const QUESTION =
  /^\s*(?:who|whom|whose|which|what|when|where|why|is|are|was|were|did|does|do|has|have|how (?:many|much|long|far|often|big|old|is|are|was|were|did|does))\s/i;

/** The bits of reading: one thing, or many. */
const READ_ONE = 1;
export const READ_MANY = 2;
export const READ = READ_ONE | READ_MANY;
/** All bits together: the largest value of `actionOf`. */
export const ALL_ACTIONS = (1 << Object.keys(VERBS).length) - 1;
/** The bit of taking away; whatever undoes an action (`unassign`) takes away. */
const REMOVE = 16;
/** The bit of carrying out: what else a tool does stands in what it is given. */
export const RUN = 64;

const ACTIONS: ReadonlyMap<string, number> = (() => {
  const table = new Map<string, number>();
  for (const [bit, verbs] of Object.values(VERBS).entries()) {
    for (const verb of verbs.split(" ")) table.set(verb, (table.get(verb) ?? 0) | (1 << bit));
  }
  return table;
})();

/** Kinds of action that a folded word in its base form stands for, as bits; 0 for none. */
export function actionOf(word: string): number {
  const kinds = ACTIONS.get(word);
  if (kinds !== undefined) return kinds;
  return word.startsWith("un") && ACTIONS.has(word.slice(2)) ? REMOVE : 0;
}

/** Whether a request is a question, which asks to read. */
export function isQuestion(query: string): boolean {
  return QUESTION.test(query) || /\?\s*$/.test(query);
}
