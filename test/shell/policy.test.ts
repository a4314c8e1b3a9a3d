import { expect, test } from "vitest";
import { keepPolicy } from "../../shell/src/policy.ts";
import { VIEW_CSP } from "../../server/view/protocol.ts";

const META = `<meta http-equiv="Content-Security-Policy" content="${VIEW_CSP}">`;

function page(head: string, body: string): Document {
  return new DOMParser().parseFromString(
    `<!doctype html><html><head>${head}</head><body>${body}</body></html>`,
    "text/html",
  );
}

const policies = (root: Element) => [...root.querySelectorAll("meta")].map((meta) => meta.content);

test("the page's own policy is in the head of an ordinary host, once", () => {
  const whole = page(META, "");
  keepPolicy(whole);
  expect(policies(whole.head)).toEqual([VIEW_CSP]);
});

test("a page that was moved into another body puts its policy into that one's head", () => {
  const whole = page("<title>host</title>", META);
  keepPolicy(whole);
  expect(policies(whole.head)).toEqual([VIEW_CSP]);
});

test("a policy of the host's own takes nothing away: ours stands beside it", () => {
  const theirs = "default-src https:";
  const whole = page(`<meta http-equiv="Content-Security-Policy" content="${theirs}">`, META);
  keepPolicy(whole);
  expect(policies(whole.head)).toEqual([theirs, VIEW_CSP]);
});
