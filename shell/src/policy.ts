import { VIEW_CSP } from "../../server/view/protocol.ts";

/**
 * Lets the page's policy bind also in a host that moved the page into the body of another, where
 * browsers ignore the element that carries it. Nothing is rendered before.
 */
export function keepPolicy(page: Document): void {
  const { head } = page;
  const kept = [...head.querySelectorAll("meta[http-equiv]")].some(
    (meta) => meta.getAttribute("content") === VIEW_CSP,
  );
  if (kept) return;
  const meta = page.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = VIEW_CSP;
  head.append(meta);
}
