const DOUBLED = /([bdfgmnprt])\1$/;
const VOWEL = /[aeiouy]/;

/** Words whose ending looks like an inflection and is none, and irregular forms that should meet. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ["news", "news"],
  ["dns", "dns"],
  ["sms", "sms"],
  ["kubernetes", "kubernetes"],
  ["redis", "redis"],
  ["alias", "alias"],
  ["aliases", "alias"],
  ["atlas", "atlas"],
  ["canvas", "canvas"],
  ["https", "https"],
  ["macos", "macos"],
  ["nodejs", "nodejs"],
  ["postgres", "postgres"],
  ["string", "string"],
  ["thing", "thing"],
  ["during", "during"],
  ["building", "build"],
  ["meeting", "meeting"],
  ["meetings", "meeting"],
  ["setting", "setting"],
  ["settings", "setting"],
  ["embed", "embed"],
  ["feed", "feed"],
  ["seed", "seed"],
  ["need", "need"],
  ["speed", "speed"],
  ["embedding", "embedding"],
  ["embeddings", "embedding"],
  ["people", "person"],
  ["children", "child"],
  ["men", "man"],
  ["women", "woman"],
  ["indices", "index"],
  ["vertices", "vertex"],
  ["sent", "send"],
  ["found", "find"],
  ["ran", "run"],
  ["written", "write"],
  ["wrote", "write"],
  ["built", "build"],
  ["made", "make"],
  ["bought", "buy"],
  ["paid", "pay"],
  ["shown", "show"],
  ["began", "begin"],
  ["left", "leave"],
  ["kept", "keep"],
  ["gave", "give"],
  ["given", "give"],
  ["took", "take"],
  ["taken", "take"],
  ["chosen", "choose"],
  ["analyses", "analy"],
  ["analysis", "analy"],
  ["analyze", "analy"],
  ["analyzes", "analy"],
  ["analyzed", "analy"],
  ["analyzing", "analy"],
  ["analyse", "analy"],
  ["analysed", "analy"],
  ["analysing", "analy"],
]);

/**
 * The form in which singular and plural, and the forms of a verb, meet.
 * Light on purpose: what it does not know stays as it is, and only ASCII words are touched.
 * @param word one lower-case token
 */
export function stem(word: string): string {
  const known = EXCEPTIONS.get(word);
  if (known !== undefined) return known;
  if (word.length < 4 || !isAsciiWord(word)) return word;
  const singular = dropPlural(word);
  const irregular = EXCEPTIONS.get(singular);
  if (irregular !== undefined) return irregular;
  return dropFinalVowel(dropVerbForm(singular));
}

function isAsciiWord(word: string): boolean {
  for (let i = 0; i < word.length; i++) {
    const unit = word.charCodeAt(i);
    if (unit < 97 || unit > 122) return false;
  }
  return true;
}

function dropPlural(word: string): string {
  if (word.endsWith("ies")) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (/(?:ss|sh|ch|x|zz)es$/.test(word)) return word.slice(0, -2);
  if (/(?:ss|us|is)$/.test(word)) return word;
  return word.endsWith("s") ? word.slice(0, -1) : word;
}

function dropVerbForm(word: string): string {
  if (word.endsWith("ification")) return `${word.slice(0, -7)}y`;
  if (word.length > 6 && /[ts]ion$/.test(word)) return word.slice(0, -3);
  if (word.endsWith("ied") && word.length > 4) return `${word.slice(0, -3)}y`;
  const base = word.endsWith("ing")
    ? word.slice(0, -3)
    : word.endsWith("ed")
      ? word.slice(0, -2)
      : undefined;
  if (base === undefined || base.length < 3 || !VOWEL.test(base)) return word;
  return DOUBLED.test(base) ? base.slice(0, -1) : base;
}

/** `create` and `creating` differ by the final e, `copy` and `copies` by y and i. */
function dropFinalVowel(word: string): string {
  return word.length > 4 && word.endsWith("e") ? word.slice(0, -1) : word;
}
