import { describe, expect, test, vi } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { concept } from "../../server/catalog/concept.ts";
import { describe as describeTools } from "../../server/catalog/describe.ts";
import { editDistance } from "../../server/catalog/distance.ts";
import { lexicon, type Lexicon } from "../../server/catalog/lexicon.ts";
import { readQuery, type Reach } from "../../server/catalog/query.ts";
import { schemaText } from "../../server/catalog/schema-text.ts";
import { OCCURRENCES, Tally } from "../../server/catalog/tally.ts";
import { pieces } from "../../server/catalog/tokens.ts";
import { IndexBuild } from "../../server/catalog/tool-index.ts";
import { Vocabulary, type Near } from "../../server/catalog/vocabulary.ts";
import { fakeConnector, fakeTool, valueOf } from "../support/catalog.ts";
import { testScope } from "../support/scope.ts";

/** One character that folds to eighteen. */
const LIGATURE = "\uFDFA";

const sequence = <T>(length: number, of: (i: number) => T) =>
  Array.from({ length }, (_, i) => of(i));
const words = (of: (i: number) => string) => sequence(1_000, of).join(" ").slice(0, 1_000);
const letter = (i: number) => String.fromCharCode(97 + (i % 26));
const junk = (length: number, seed: number) =>
  sequence(length, (i) => letter((i * i + seed * 7 + i * seed) % 26)).join("");

const HOSTILE: readonly (readonly [string, string])[] = [
  ["a thousand ligatures", LIGATURE.repeat(1_000)],
  ["ligatures apart", words(() => LIGATURE)],
  ["one-letter words", words(letter)],
  ["a thousand different letters", words((i) => String.fromCodePoint(0x4e0 + i))],
  ["one word of a thousand letters", junk(1_000, 3)],
  ["words of forty letters", words((i) => junk(40, i))],
  ["words of nine letters", words((i) => junk(9, i))],
  ["camelCase without end", "aB".repeat(500)],
  ["combining marks", `a${"\u0301".repeat(999)}`],
  ["letters that marks belong to", "\u1f82".repeat(1_000)],
  ["emoji sequences", "👨‍👩‍👧‍👦".repeat(90)],
  [
    "unspaced script",
    sequence(1_000, (i) => String.fromCharCode(0x4e00 + ((i * 37) % 8_000))).join(""),
  ],
  ["unspaced script that expands", "\u3300".repeat(1_000)],
  ["words of an unspaced script", "文件邮件日历天气用户".repeat(100)],
  ["scripts in turn", sequence(1_000, (i) => "a件Бא"[i % 4]).join("")],
  ["one connector's name", words(() => "office")],
];

/** Counts the questions that are put to it. */
class CountingVocabulary extends Vocabulary {
  nearCalls = 0;
  override near(word: string): readonly Near[] {
    this.nearCalls++;
    return super.near(word);
  }
}

function readCounted(query: string, reach?: Reach) {
  const vocabulary = new CountingVocabulary();
  let lookups = 0;
  let runs = 0;
  const real = lexicon();
  const counting: Lexicon = {
    phraseWords: real.phraseWords,
    synonyms: (key) => real.synonyms(key),
    translations: (key) => (lookups++, real.translations(key)),
    longestRun: (run, from) => (runs++, real.longestRun(run, from)),
  };
  const request = readQuery(query, counting, vocabulary, reach);
  return { request, lookups, runs, nearCalls: vocabulary.nearCalls };
}

describe("S4: a query of a thousand characters is bounded work:", () => {
  test.each(HOSTILE)("%s", (_, query) => {
    const { request, lookups, runs, nearCalls } = readCounted(query);
    expect(query.length).toBeLessThanOrEqual(1_000);
    expect(request.concepts.length).toBeLessThanOrEqual(32);
    expect(request.words.length).toBeLessThanOrEqual(96);
    expect(Math.max(0, ...request.words.map((word) => word.length))).toBeLessThanOrEqual(128);
    expect(nearCalls).toBeLessThanOrEqual(16);
    expect(lookups).toBeLessThanOrEqual(700);
    expect(runs).toBeLessThanOrEqual(1_000);
  });

  test("words that nobody knows would all be guessed at without a bound", () => {
    const endless = { pieces: Infinity, concepts: Infinity, guesses: Infinity };
    const query = words((i) => junk(9, i));
    expect(readCounted(query, endless).nearCalls).toBeGreaterThan(90);
    expect(readCounted(query, endless).request.concepts).toHaveLength(100);
  });

  test("a word of more than forty letters is neither taken apart nor corrected", () => {
    expect(readCounted(junk(40, 1)).nearCalls).toBeGreaterThan(0);
    expect(readCounted(junk(41, 1)).nearCalls).toBe(0);
    expect(readCounted(junk(41, 1)).lookups).toBe(1);
  });

  test("an ordinary word is still taken apart, corrected and translated", () => {
    expect(readCounted("kalenderdatei").request.concepts[0]?.known).toBe(true);
    expect(readCounted("calandar").nearCalls).toBeGreaterThan(0);
  });
});

describe("S4: text is cut where it is read", () => {
  test("a word, before it is folded and after", () => {
    const [first, ...others] = pieces(LIGATURE.repeat(1_000));
    expect(others).toEqual([]);
    expect(first?.text).toHaveLength(128);
    const [long] = pieces("aB".repeat(500));
    expect(long?.kind === "word" && long.parts.length).toBe(65);
  });

  test("after as many pieces as are wanted, in every script", () => {
    expect(pieces("one two three", 2).map(({ text }) => text)).toEqual(["one", "two"]);
    expect(pieces("a件b件c件", 3).map(({ text }) => text)).toEqual(["a", "件", "b"]);
    expect(pieces("件a", 1)).toHaveLength(1);
  });
});

describe("S4: a query of words that are everywhere", () => {
  const tools = sequence(1_000, (i) => fakeTool(`tool_${i}`, { description: "common words here" }));
  const build = new IndexBuild({ id: "crm" }, tools);
  while (build.index === undefined) build.step();
  const vocabulary = new Vocabulary();
  vocabulary.set("crm", build.index);
  const everywhere = concept("common", [{ term: "common", weight: 1 }], true);

  test("stops looking up occurrences once it has said enough", () => {
    const tally = new Tally(vocabulary, [0], new Float64Array(1));
    for (let i = 0; i < 200; i++) tally.add(everywhere);
    const enough = OCCURRENCES.least + OCCURRENCES.perTool * tools.length;
    expect(tally.visited).toBeGreaterThanOrEqual(enough);
    expect(tally.visited).toBeLessThan(enough + tools.length);
  });
});

describe("E3: suggestions are bounded", () => {
  const catalogs = () =>
    new Catalogs([
      fakeConnector(
        "crm",
        sequence(300, (i) => fakeTool(`get_record_${i}`)),
      ),
    ]);

  test("to the first eight misses of one describe; the others fail in their place all the same (S6)", async () => {
    const addresses = sequence(100, (i) => `crm.get_recrod_${i}`);
    const entries = valueOf(await describeTools(catalogs(), { addresses }, testScope()));
    const errors = entries.map((entry) => (entry.ok ? undefined : entry.error));
    expect(errors.map((error) => error?.code)).toEqual(addresses.map(() => "unknown_tool"));
    expect(errors.map((error) => error?.suggestions !== undefined)).toEqual(
      addresses.map((_, i) => i < 8),
    );
    expect(errors.every((error) => error?.nextAction !== undefined)).toBe(true);
  });

  test("and a hit between the misses takes none of the eight", async () => {
    const addresses = sequence(20, (i) =>
      i % 2 === 0 ? "crm.get_record_1" : `crm.get_recrod_${i}`,
    );
    const entries = valueOf(await describeTools(catalogs(), { addresses }, testScope()));
    const suggested = entries.filter((entry) => !entry.ok && entry.error.suggestions !== undefined);
    expect(suggested).toHaveLength(8);
    expect(entries.filter(({ ok }) => ok)).toHaveLength(10);
  });

  test("and others may run between one and the next", async () => {
    const known = catalogs();
    await describeTools(known, { address: "crm.get_record_1" }, testScope());
    const timers = vi.spyOn(globalThis, "setTimeout");
    const addresses = sequence(100, (i) => `crm.get_recrod_${i}`);
    await describeTools(known, { addresses }, testScope());
    const pauses = timers.mock.calls.filter(([, delay]) => delay === 0).length;
    timers.mockRestore();
    expect(pauses).toBeGreaterThanOrEqual(7 + 9);
  });
});

describe("S4: words of any length are compared alike", () => {
  const long = junk(150, 5);
  test.each([
    [long, long, 0],
    [long, `${long.slice(0, 70)}${long.slice(71)}`, 1],
    [`x${long}`, `${long}y`, 2],
    [long, long.replaceAll(long.slice(0, 1), "ä"), 3],
  ])("case %#", (a, b, distance) => {
    expect(editDistance(a, b, 2)).toBe(distance);
  });
});

/** A schema whose objects count how often they are looked into. */
function counted(schema: object): { readonly schema: object; readonly reads: () => number } {
  let reads = 0;
  const known = new Map<object, object>();
  const watch = (target: object): object => {
    const seen = known.get(target);
    if (seen !== undefined) return seen;
    const watched = new Proxy(target, {
      get(of, key, receiver): unknown {
        reads++;
        const value: unknown = Reflect.get(of, key, receiver);
        return typeof value === "object" && value !== null ? watch(value) : value;
      },
    });
    known.set(target, watched);
    return watched;
  };
  return { schema: watch(schema), reads: () => reads };
}

function nested(depth: number, around: (inner: object) => object): object {
  let schema: object = { type: "string" };
  for (let i = 0; i < depth; i++) schema = around(schema);
  return schema;
}

const definitions = (count: number, of: (next: (step: number) => object) => object) => ({
  $ref: "#/$defs/d0",
  $defs: Object.fromEntries(
    sequence(count, (i) => [
      `d${i}`,
      of((step) => ({ $ref: `#/$defs/d${(i * 7 + step) % count}` })),
    ]),
  ),
});
const properties = (count: number, of: (i: number) => object) =>
  Object.fromEntries(sequence(count, (i) => [`p${i}`, of(i)]));

describe("S3: a schema is bounded work, whatever it is:", () => {
  test.each<[string, object]>([
    [
      "ten thousand objects deep",
      nested(10_000, (inner) => ({ type: "object", properties: { a: inner } })),
    ],
    ["ten thousand lists deep", nested(10_000, (items) => ({ type: "array", items }))],
    ["ten thousand unions deep", nested(10_000, (inner) => ({ anyOf: [inner, { type: "null" }] }))],
    ["ten thousand extensions deep", nested(10_000, (inner) => ({ allOf: [inner] }))],
    ["unions of unions", nested(6, (inner) => ({ anyOf: sequence(24, () => inner) }))],
    ["references in a circle", definitions(5_000, (next) => next(1))],
    ["a mesh of objects", definitions(2_000, (next) => ({ properties: properties(10, next) }))],
    ["a mesh of unions", definitions(2_000, (next) => ({ anyOf: sequence(10, next) }))],
    ["a mesh of extensions", definitions(2_000, (next) => ({ allOf: sequence(10, next) }))],
    ["an extension of very many", { allOf: sequence(300_000, () => ({ type: "string" })) }],
    ["a type that is many", { type: sequence(10_000, () => "object"), properties: { a: {} } }],
    [
      "long pointers",
      {
        a: nested(450, (a) => ({ a })),
        properties: properties(1_000, () => ({ $ref: `#${"/a".repeat(450)}` })),
      },
    ],
  ])("%s", (_, hostile) => {
    const { schema, reads } = counted(hostile);
    const { text } = schemaText(schema);
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(1_024);
    expect(reads()).toBeLessThanOrEqual(150_000);
  });

  test("a hundred thousand properties are gone through once, not for each level of detail", () => {
    const count = 100_000;
    const { schema, reads } = counted({
      properties: properties(count, () => ({ type: "string" })),
    });
    const { text, truncated } = schemaText(schema);
    expect(truncated).toBe(true);
    expect(text).toMatch(/^\{ p0\?: string; .* \/\* \+99\d{3} more \*\/ \}$/);
    expect(reads()).toBeLessThan(1.5 * count);
  });
});
