import { describe, expect, test } from "vitest";
import { editDistance } from "../../server/catalog/distance.ts";
import { stem } from "../../server/catalog/stem.ts";
import { bigrams, compact, fold, TermReader, terms } from "../../server/catalog/tokens.ts";

describe("S4: text falls apart into words", () => {
  test.each([
    ["create_issue", ["creat", "issu"]],
    ["get-pull.request", ["get", "pull", "request"]],
    ["createMailboxV1", ["creat", "mailbox", "v1"]],
    ["HTMLParser", ["html", "parser", "htmlparser"]],
    ["GitHub", ["git", "hub", "github"]],
    ["ms365", ["ms365"]],
    ["  ", []],
    ["🦊", []],
  ])("%j at punctuation and camelCase", (text, expected) => {
    expect(terms(text)).toEqual(expected);
  });

  test.each([
    ["Überprüfung", "uberprufung"],
    ["ÉLÉPHANT", "elephant"],
    ["Straße", "strasse"],
    ["ﬁle", "file"],
    ["Ｆｕｌｌ", "full"],
    ["smørrebrød", "smorrebrod"],
  ])("%j without case, accents and compatibility forms", (text, expected) => {
    expect(fold(text)).toBe(expected);
  });

  test("keeps marks that are letters' own, such as the Japanese voiced sound", () => {
    expect(fold("ガ")).not.toBe(fold("カ"));
    expect(fold("한국")).toBe("한국");
  });

  test("cuts scripts without spaces into pairs of characters", () => {
    expect(terms("天气预报")).toEqual(["天气", "气预", "预报"]);
    expect(terms("LINEで送る")).toEqual(["line", "で送", "送る"]);
    expect(bigrams("雨")).toEqual(["雨"]);
  });

  test("keeps a reader's words the same however often it has read them", () => {
    const reader = new TermReader();
    const texts = ["Create an issue", "createIssue", "Créer 天气", "Create an issue"];
    expect(texts.map((text) => reader.read(text))).toEqual(texts.map(terms));
  });

  test("compares names without case and punctuation", () => {
    expect(compact("Create-Issue")).toBe(compact("create_issue"));
    expect(compact("a")).not.toBe(compact("b"));
  });
});

describe("S4: the forms of a word meet", () => {
  test.each([
    ["issue", "issues"],
    ["create", "creates", "created", "creating", "creation"],
    ["delete", "deleted", "deleting", "deletion"],
    ["copy", "copies", "copied", "copying"],
    ["search", "searches", "searching"],
    ["stop", "stops", "stopped", "stopping"],
    ["query", "queries"],
    ["person", "people"],
    ["notify", "notification", "notified"],
    ["analyze", "analysis", "analyse"],
  ])("%s", (first, ...others) => {
    for (const other of others) expect(stem(other)).toBe(stem(first));
  });

  test.each([
    ["news", "new"],
    ["status", "state"],
    ["string", "str"],
    ["kubernetes", "kubernet"],
    ["process", "proces"],
  ])("but %s is not %s", (word, other) => {
    expect(stem(word)).not.toBe(stem(other));
  });
});

describe("S4: a misspelling is a few edits away", () => {
  test.each([
    ["issue", "issue", 0],
    ["isue", "issue", 1],
    ["issues", "issue", 1],
    ["iusse", "issue", 2],
    ["sisue", "issue", 1],
    ["ssiue", "issue", 2],
    ["recrod", "record", 1],
  ])("%s from %s by %i", (a, b, distance) => {
    expect(editDistance(a, b, 2)).toBe(distance);
    expect(editDistance(b, a, 2)).toBe(distance);
  });

  test("and further than asked is only that", () => {
    expect(editDistance("kitten", "sitting", 2)).toBe(3);
    expect(editDistance("a", "abcdefgh", 2)).toBe(3);
  });
});
