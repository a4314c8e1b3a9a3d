import { VIEW_CSP } from "../../server/view/protocol.ts";
import type { ReadsConfig, Theme } from "./messages.ts";
import prelude from "./prelude.ts?travel";
import readsPrelude from "./reads-prelude.ts?travel";
import { DEFAULT_STYLES } from "./variables.ts";

const HEAD = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${VIEW_CSP}">`;

/**
 * The whole inner document. Ours stands first and is never placed by searching the program's
 * text, so nothing in that text can move or disable it; the text itself follows untouched.
 * @param html the program's HTML
 * @param theme what the view should look like at first
 * @param reads installs `connecta.read`; absent for a plain payload
 */
export function innerDocument(html: string, theme: Theme, reads?: ReadsConfig): string {
  const bridge = reads ? scriptCalling(readsPrelude, reads) : "";
  const style = `<style>${DEFAULT_STYLES.css}</style>`;
  return HEAD + style + scriptCalling(prelude, theme) + bridge + html;
}

function scriptCalling(source: string, argument: unknown): string {
  const json = JSON.stringify(argument).replaceAll("<", "\\u003c");
  return `<script>(${source})(${json})</script>`;
}
