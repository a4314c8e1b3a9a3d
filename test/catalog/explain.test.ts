import { describe, expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { explain } from "../../server/catalog/explain.ts";
import { valueOf } from "../support/catalog.ts";
import { addresses, office } from "../support/office.ts";
import { testScope } from "../support/scope.ts";

const catalogs = new Catalogs(office());
const explained = async (query: string) =>
  valueOf(await explain(catalogs, query, 8, undefined, testScope()));

const QUERIES = [
  "create_issue",
  "github.create_issue",
  "slack post message",
  "open a new bug report",
  "which issues are there?",
  "envoyer un message",
  "メッセージを送る",
  "creating isues zzyzx",
];

describe("an explained search", () => {
  test.each(QUERIES)("finds what a search finds, in its order: %j", async (query) => {
    const { tools } = await explained(query);
    expect(tools.length).toBeGreaterThan(0);
    expect(tools.map(({ address }) => address)).toEqual((await addresses(query)).slice(0, 8));
  });

  test.each(QUERIES)("names parts that make up the score: %j", async (query) => {
    for (const { score, parts, words } of (await explained(query)).tools) {
      const { coverage, name, affinity, mention, action, surface, exact } = parts;
      const product = parts.words * coverage * name * affinity * mention * action;
      expect((product + exact) * surface).toBeCloseTo(score, 6);
      const sum = words.reduce((all, word) => all + word.score, 0);
      expect(sum).toBeCloseTo(parts.words, 6);
    }
  });

  test("says which part is behind a place", async () => {
    const [first] = (await explained("github.create_issue")).tools;
    expect(first?.parts.exact).toBe(1e9);
    const [message] = (await explained("slack post message")).tools;
    expect(message?.parts).toMatchObject({ mention: 1.5, action: 1.15, exact: 1e6 });
    expect((await explained("create issue zzyzx")).unmatched).toEqual(["zzyzx"]);
  });
});
