// @vitest-environment node
import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { record, type Recording } from "./recorder.ts";
import { REQUESTS } from "./requests.ts";

/*
 * The tests of the shell render what the real server answered once. `RECORD=1 npx vitest run
 * test/shell/recorded` writes down what it answers now; read the difference before keeping it.
 */
const FILE = new URL("results.json", import.meta.url);

let kept: Recording;
let today: Recording;
let modern: Recording;
beforeAll(async () => {
  [today = {}, modern = {}] = await record(["legacy", "modern"]);
  if (process.env.RECORD) writeFileSync(FILE, `${JSON.stringify(today, undefined, 2)}\n`);
  kept = JSON.parse(readFileSync(FILE, "utf8")) as Recording;
}, 60_000);

describe("the server still answers as it is recorded", () => {
  test("and everything on record is asked for", () => {
    expect(Object.keys(kept)).toEqual(Object.keys(REQUESTS));
  });

  test.each(Object.keys(REQUESTS))("%s", (name) => {
    expect(today[name]).toEqual(kept[name]);
    expect(modern[name]).toEqual(kept[name]);
  });

  test("a single changed character is noticed", () => {
    const name = "a view with reads";
    const altered = JSON.stringify(today[name]).replace("tickets.list", "tickets.lisp");
    expect(JSON.parse(altered)).not.toEqual(kept[name]);
  });
});
