import { describe, expect, test } from "vitest";
import { acceptPayload, payloadBytes } from "../../server/view/payload.ts";

const HTML = "<p>hello</p>";
const read = (binding: unknown) => [HTML, { reads: { page: binding } }];
const many = (count: number, name: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => name(index));

/** The message of a refusal; a test that expects one fails on an acceptance. */
function refusal(args: readonly unknown[]): string {
  const outcome = acceptPayload(args);
  if (outcome.ok) throw new Error("it was accepted");
  expect(outcome.failure).toMatchObject({ code: "invalid_args", retryable: false });
  return outcome.failure.message;
}

describe("connecta.ui accepts", () => {
  test("U1: one non-empty string, as exactly { html }", () => {
    expect(acceptPayload([HTML])).toEqual({ ok: true, value: { html: HTML } });
  });

  test("V1, V3: a manifest, which rides beside the html as declared", () => {
    const reads = {
      refresh: { address: "metrics.current", fixedArgs: { service: "api", deep: [{ a: null }] } },
      "next-page_2": { address: "git.log", viewArgs: ["cursor"] },
    };
    expect(acceptPayload([HTML, { reads }])).toEqual({ ok: true, value: { html: HTML, reads } });
  });

  test("V1: as many names and view arguments as the bounds allow", () => {
    const viewArgs = many(32, (index) => `arg${index}`);
    const reads = Object.fromEntries(
      many(32, (index) => `read${index}`).map((name) => [name, { address: "a.b", viewArgs }]),
    );
    expect(acceptPayload([HTML, { reads }]).ok).toBe(true);
    expect(acceptPayload(read({ address: "a.b", viewArgs: [] })).ok).toBe(true);
    expect(
      acceptPayload([HTML, { reads: { [`r${"x".repeat(63)}`]: { address: "a.b" } } }]).ok,
    ).toBe(true);
  });
});

describe("U1: connecta.ui refuses", () => {
  test.each<[string, unknown[]]>([
    ["nothing", []],
    ["a number", [7]],
    ["null", [null]],
    ["an MCP block", [{ type: "text", text: HTML }]],
    ["a list", [[HTML]]],
    ["an empty string", [""]],
    ["an options bag that is null", [HTML, null]],
    ["an options bag that is empty", [HTML, {}]],
    ["an option it does not know", [HTML, { title: "x" }]],
    ["an option beside reads", [HTML, { reads: { page: { address: "a.b" } }, title: "x" }]],
    ["reads that are undefined", [HTML, { reads: undefined }]],
    ["a third argument", [HTML, { reads: { page: { address: "a.b" } } }, 1]],
  ])("%s", (_, args) => {
    expect(refusal(args)).toMatch(/^connecta\.ui /);
  });
});

describe("V1: a manifest is refused with", () => {
  const named = (name: string) => [HTML, { reads: { [name]: { address: "a.b" } } }];
  test.each<[string, unknown[], string]>([
    ["no name", [HTML, { reads: {} }], "names no read"],
    ["a list", [HTML, { reads: [] }], "not an object"],
    [
      "33 names",
      [
        HTML,
        { reads: Object.fromEntries(many(33, (i) => `r${i}`).map((n) => [n, { address: "a.b" }])) },
      ],
      "over 32",
    ],
    ["a name of 65 characters", named("r".repeat(65)), "a name that is not"],
    ["a name that starts with a digit", named("1st"), "a name that is not"],
    ["a name with a dot", named("a.b"), "a name that is not"],
    ["an empty name", named(""), "a name that is not"],
    ["the name constructor", named("constructor"), "a name that is not"],
    ["the name prototype", named("prototype"), "a name that is not"],
    [
      "the name __proto__",
      [HTML, { reads: JSON.parse('{"__proto__":{"address":"a.b"}}') }],
      "a name",
    ],
    ["a binding that is a string", read("a.b"), "reads.page is not an object"],
    ["no address", read({}), "reads.page has no address"],
    ["an empty address", read({ address: "" }), "reads.page has no address"],
    ["a number for an address", read({ address: 1 }), "reads.page has no address"],
    ["a field it does not know", read({ address: "a.b", timeoutMs: 1 }), "a field other than"],
    ["fixedArgs that are a list", read({ address: "a.b", fixedArgs: [] }), "no object"],
    ["fixedArgs that are null", read({ address: "a.b", fixedArgs: null }), "no object"],
    [
      "an unsafe name deep in fixedArgs",
      read({ address: "a.b", fixedArgs: JSON.parse('{"a":[{"__proto__":1}]}') }),
      "an unsafe name",
    ],
    ["a Date in fixedArgs", read({ address: "a.b", fixedArgs: { at: new Date(0) } }), "not JSON"],
    ["an infinity in fixedArgs", read({ address: "a.b", fixedArgs: { at: Infinity } }), "not JSON"],
    ["a function in fixedArgs", read({ address: "a.b", fixedArgs: { at: () => 1 } }), "not JSON"],
    ["a BigInt in fixedArgs", read({ address: "a.b", fixedArgs: { at: 1n } }), "not JSON"],
    ["viewArgs that are a string", read({ address: "a.b", viewArgs: "id" }), "a list of names"],
    [
      "a view argument that is a number",
      read({ address: "a.b", viewArgs: [1] }),
      "a list of names",
    ],
    ["an empty view argument", read({ address: "a.b", viewArgs: [""] }), "a list of names"],
    ["33 view arguments", read({ address: "a.b", viewArgs: many(33, (i) => `a${i}`) }), "over 32"],
    ["a view argument twice", read({ address: "a.b", viewArgs: ["id", "id"] }), "twice"],
    ["an unsafe view argument", read({ address: "a.b", viewArgs: ["__proto__"] }), "unsafe"],
    [
      "a view argument that is fixed",
      read({ address: "a.b", fixedArgs: { id: 1 }, viewArgs: ["id"] }),
      "both fixedArgs and viewArgs",
    ],
  ])("%s", (_, args, words) => {
    expect(refusal(args)).toContain(words);
  });

  test("a cycle", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(refusal(read({ address: "a.b", fixedArgs: cycle }))).toContain("too deep");
  });

  test("a small value that unfolds into a large one", () => {
    let laughs: unknown = ["ha"];
    for (let level = 0; level < 40; level++) laughs = [laughs, laughs];
    expect(refusal(read({ address: "a.b", fixedArgs: { laughs } }))).toContain(
      "over 4194304 bytes",
    );
  });

  test("a message that names the place and quotes no value", () => {
    const secret = "swordfish";
    for (const args of [
      read({ address: "a.b", fixedArgs: { id: secret }, viewArgs: ["id"] }),
      read({ address: "a.b", [secret]: 1 }),
      read({ address: "a.b", viewArgs: [secret, secret] }),
      [HTML, { reads: { page: secret } }],
      [{ html: secret }],
    ]) {
      expect(refusal(args)).not.toContain(secret);
    }
  });
});

test("U4: a payload weighs the bytes of its JSON", () => {
  expect(payloadBytes({ html: "<p>\u00fc\ud83d\ude00</p>" })).toBe(
    new TextEncoder().encode('{"html":"<p>\u00fc\ud83d\ude00</p>"}').byteLength,
  );
  const reads = { page: { address: "a.b" } };
  expect(payloadBytes({ html: "x", reads })).toBe(47);
});
