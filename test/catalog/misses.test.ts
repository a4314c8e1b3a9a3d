import { describe, expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { search } from "../../server/catalog/search.ts";
import { fail } from "../../server/shared/failure.ts";
import { failureOf, fakeConnector, valueOf } from "../support/catalog.ts";
import { MAX_PAGE, find, office } from "../support/office.ts";
import { testScope } from "../support/scope.ts";

describe("S5: a miss", () => {
  test("is marked, and names the words that no tool knows", async () => {
    const page = await find({ query: "knit a woolen qwertyuiop" });
    expect(page.matchMode).toBeDefined();
    expect(page.queryAnalysis?.unmatchedTerms).toContain("qwertyuiop");
  });

  test("with no match at all is told apart from a poor one", async () => {
    expect((await find({ query: "qwertyuiop" })).matchMode).toBe("none");
    expect((await find({ query: "qwertyuiop asdfghjkl zxcvbnm issue" })).matchMode).toBe("weak");
  });

  test("still shows what there is", async () => {
    const page = await find({ query: "qwertyuiop asdfghjkl zxcvbnm issue" });
    expect(page.tools.length).toBeGreaterThan(0);
  });

  test("says which connector the query names", async () => {
    const page = await find({ query: "slack qwertyuiop asdfghjkl zxcvbnm" });
    expect(page.queryAnalysis?.mentionedConnector).toBe("slack");
  });

  test("is not claimed of a good match", async () => {
    const page = await find({ query: "create an issue" });
    expect(page).not.toHaveProperty("matchMode");
    expect(page).not.toHaveProperty("queryAnalysis");
    expect(page).not.toHaveProperty("unavailable");
  });

  test("by punctuation alone finds nothing and says so", async () => {
    expect(await find({ query: "?!" })).toMatchObject({ total: 0, matchMode: "none" });
  });
});

describe("S5: an unavailable connector", () => {
  const dead = fakeConnector("jira", () => Promise.resolve(fail("unavailable", "jira is down.")));

  test("is named with the reason while the others are searched", async () => {
    const page = await find({ query: "create issue" }, [dead, ...office()]);
    expect(page.unavailable).toEqual([
      { connector: "jira", code: "unavailable", message: "jira is down." },
    ]);
    expect(page.tools[0]?.address).toBe("github.create_issue");
  });

  test("never reads as an empty one", async () => {
    const page = await find({ connector: "jira" }, [dead]);
    expect(page.total).toBe(0);
    expect(page.unavailable).toHaveLength(1);
  });

  test("that the query names is pointed out even when others match", async () => {
    const page = await find({ query: "create issue in jira" }, [dead, ...office()]);
    expect(page.queryAnalysis?.mentionedConnector).toBe("jira");
  });

  test("for want of authorisation says how to get it (E3)", async () => {
    const shut = fakeConnector("jira", () => Promise.resolve(fail("auth_required", "Log in.")));
    const page = await find({}, [shut]);
    expect(page.unavailable?.[0]?.nextAction).toEqual({
      tool: "authorize_connector",
      arguments: { connector: "jira" },
    });
  });

  test("that never answers delays the page by its deadline alone", async () => {
    const silent = fakeConnector("silent", () => new Promise(() => undefined));
    const catalogs = new Catalogs([silent, ...office()], { timeoutMs: 20 });
    const page = valueOf(await search(catalogs, { query: "forecast" }, MAX_PAGE, testScope()));
    expect(page.tools[0]?.address).toBe("weather.get_forecast");
    expect(page.unavailable?.map(({ connector }) => connector)).toEqual(["silent"]);
  });

  test("does not make the others wait: all are asked before any has answered", async () => {
    const asked: string[] = [];
    const waiting = ["a", "b", "c"].map((id) =>
      fakeConnector(id, () => {
        asked.push(id);
        return new Promise(() => undefined);
      }),
    );
    const leaving = new AbortController();
    const scope = testScope({ signal: leaving.signal });
    const page = search(new Catalogs(waiting), {}, MAX_PAGE, scope);
    expect(asked).toEqual(["a", "b", "c"]);
    leaving.abort();
    expect(failureOf(await page).code).toBe("cancelled");
  });
});
