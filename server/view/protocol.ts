/**
 * Shapes that the server, the shell and the checks share. Nothing here may import anything:
 * the shell's source hash covers this file alone of the server.
 */

/** Result `_meta` key that carries a view's payload. */
export const PAYLOAD_KEY = "connecta/ui";

/**
 * The policy of the shell's page, and again of every inner document: only the inner one holds
 * when a host moves the page into another `<body>`.
 */
export const VIEW_CSP =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " +
  "img-src data: blob:; media-src data: blob:; font-src data:; connect-src 'none'; " +
  "frame-src 'none'; object-src 'none'; form-action 'none'";

/** One named read of a view, as declared by the program. */
export interface Binding {
  readonly address: string;
  readonly fixedArgs?: Readonly<Record<string, unknown>>;
  readonly viewArgs?: readonly string[];
}

/** The named reads of a view. */
export type Manifest = Readonly<Record<string, Binding>>;

/** What travels under {@link PAYLOAD_KEY}. */
export interface ViewPayload {
  readonly html: string;
  readonly reads?: Manifest;
}

/** Bounds that both sides of the bridge enforce. */
export const VIEW_LIMITS = {
  /** Named reads of one view. */
  reads: 32,
  /** View-supplied keys of one read. */
  viewArgs: 32,
  /** Reads in flight at once. */
  concurrentReads: 8,
  /** UTF-8 bytes of the arguments that a view supplies to one read. */
  argumentBytes: 64 * 1024,
  /** UTF-8 bytes of the fixed arguments of one read, as for any argument of a host call. */
  fixedArgsBytes: 4 * 1024 * 1024,
} as const;

const READ_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const UNSAFE_KEYS = new Set(["__proto__", "constructor", "prototype"]);

/** Whether a key could reach a prototype; such keys are refused everywhere on the bridge. */
function isUnsafeKey(key: string): boolean {
  return UNSAFE_KEYS.has(key);
}

/** Whether a text can name a read at all; decides quickly, however long the text is. */
export function isReadName(name: string): boolean {
  return READ_NAME.test(name) && !isUnsafeKey(name);
}

/** An object literal or null-prototype object, not an array, class instance or boxed value. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A checked payload, or the sentence that says what is wrong with it. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

const wrong = (message: string): { readonly ok: false; readonly message: string } => ({
  ok: false,
  message,
});

/** Checks a whole payload; used by the server before acceptance and by the shell before rendering. */
export function checkPayload(value: unknown): Checked<ViewPayload> {
  if (!isPlainObject(value)) return wrong("the payload is not an object");
  const extra = Object.keys(value).find((key) => key !== "html" && key !== "reads");
  if (extra !== undefined) return wrong("the payload has a field other than html and reads");
  if (typeof value.html !== "string" || value.html === "") {
    return wrong("html is not a non-empty string");
  }
  if (value.reads === undefined) return { ok: true, value: { html: value.html } };
  const reads = checkManifest(value.reads);
  return reads.ok ? { ok: true, value: { html: value.html, reads: reads.value } } : reads;
}

/** Checks the manifest of named reads. */
function checkManifest(value: unknown): Checked<Manifest> {
  if (!isPlainObject(value)) return wrong("reads is not an object");
  const names = Object.keys(value);
  if (names.length === 0) return wrong("reads names no read");
  if (names.length > VIEW_LIMITS.reads) return wrong(`reads has over ${VIEW_LIMITS.reads} names`);
  for (const name of names) {
    if (!isReadName(name)) return wrong("reads has a name that is not [A-Za-z][A-Za-z0-9_-]{0,63}");
    const problem = bindingProblem(value[name]);
    if (problem !== undefined) return wrong(`reads.${name} ${problem}`);
  }
  return { ok: true, value: value as Manifest };
}

function bindingProblem(binding: unknown): string | undefined {
  if (!isPlainObject(binding)) return "is not an object";
  const known = ["address", "fixedArgs", "viewArgs"];
  if (Object.keys(binding).some((key) => !known.includes(key))) {
    return "has a field other than address, fixedArgs and viewArgs";
  }
  if (typeof binding.address !== "string" || binding.address === "") {
    return "has no address";
  }
  const { fixedArgs, viewArgs } = binding;
  if (fixedArgs !== undefined && !isPlainObject(fixedArgs))
    return "has fixedArgs that is no object";
  const problem = jsonProblem(fixedArgs, VIEW_LIMITS.fixedArgsBytes);
  if (problem !== undefined) return `has fixedArgs that ${problem}`;
  if (viewArgs === undefined) return undefined;
  if (!Array.isArray(viewArgs) || !viewArgs.every((key) => typeof key === "string" && key !== "")) {
    return "has viewArgs that is not a list of names";
  }
  if (viewArgs.length > VIEW_LIMITS.viewArgs) return `has over ${VIEW_LIMITS.viewArgs} viewArgs`;
  if (new Set(viewArgs).size !== viewArgs.length) return "has a viewArgs name twice";
  if (viewArgs.some((key) => isUnsafeKey(key))) return "has an unsafe viewArgs name";
  if (fixedArgs && viewArgs.some((key) => Object.hasOwn(fixedArgs, key))) {
    return "has a name in both fixedArgs and viewArgs";
  }
  return undefined;
}

const MAX_DEPTH = 64;

/**
 * What stops a value from being plain JSON with safe names, as the rest of a sentence about
 * arguments; `undefined` when nothing does. Absent and `undefined` properties are the same.
 * @param maxBytes UTF-8 bytes of the value as JSON
 */
export function jsonProblem(value: unknown, maxBytes: number): string | undefined {
  const tooLarge = `are over ${maxBytes} bytes`;
  let room = maxBytes;
  const visit = (part: unknown, depth: number): string | undefined => {
    // Stops a hostile value early, one that repeats itself too; the exact measure comes last.
    room -= typeof part === "string" ? part.length : 1;
    if (room < 0) return tooLarge;
    if (part === undefined || part === null || typeof part === "boolean") return undefined;
    if (typeof part === "string" || Number.isFinite(part)) return undefined;
    const isArray = Array.isArray(part);
    if (!isArray && !isPlainObject(part)) return "hold a value that is not JSON";
    if (depth === MAX_DEPTH) return "are nested too deep";
    for (const key of Object.keys(part)) {
      if (isUnsafeKey(key)) return "hold an unsafe name";
      room -= isArray ? 0 : key.length;
      const problem = visit((part as Record<string, unknown>)[key], depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  const problem = visit(value, 0);
  if (problem !== undefined || value === undefined) return problem;
  const bytes = new TextEncoder().encode(JSON.stringify(value)).byteLength;
  return bytes > maxBytes ? tooLarge : undefined;
}
