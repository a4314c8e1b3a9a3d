import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec, type Extension } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup, EditorView } from "codemirror";

// Custom properties reach into the editor's shadow root and follow the theme by themselves.
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  { tag: tags.function(tags.variableName), color: "var(--code-call)" },
  { tag: tags.function(tags.propertyName), color: "var(--code-call)" },
  { tag: [tags.propertyName, tags.attributeName], color: "var(--code-property)" },
  { tag: [tags.tagName, tags.angleBracket], color: "var(--code-tag)" },
  { tag: [tags.operator, tags.punctuation, tags.bracket], color: "var(--text-quiet)" },
  { tag: tags.comment, color: "var(--text-faint)", fontStyle: "italic" },
  { tag: tags.invalid, color: "var(--danger)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "12.5px", backgroundColor: "transparent", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--accent)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  ".cm-gutters": {
    // Long lines scroll under it.
    backgroundColor: "var(--surface)",
    color: "var(--text-faint)",
    border: "none",
    paddingLeft: "4px",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection) !important",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selection)" },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-soft)" },
  ".cm-foldPlaceholder": {
    background: "var(--raised)",
    border: "none",
    color: "var(--text-faint)",
  },
  ".cm-tooltip": { background: "var(--surface)", borderColor: "var(--line-strong)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)" },
});

/** The program editor. */
export class Editor {
  /** Told of every edit, but not of a text that was opened. */
  onEdit: () => void = () => {};
  readonly #extensions: Extension;
  readonly #view: EditorView;

  /**
   * @param host element that the editor fills
   * @param onRun called on Ctrl-Enter or Cmd-Enter
   */
  constructor(host: HTMLElement, readOnly: boolean, onRun: () => void) {
    const run = () => {
      onRun();
      return true;
    };
    // In a shadow root the editor adopts its style sheets, which the page's policy allows.
    const root = host.attachShadow({ mode: "open" });
    const parent = root.appendChild(document.createElement("div"));
    parent.style.height = "100%";
    this.#extensions = [
      Prec.highest([keymap.of([{ key: "Mod-Enter", run }]), look]),
      basicSetup,
      javascript(),
      syntaxHighlighting(colours),
      EditorView.contentAttributes.of({ "aria-label": readOnly ? "Tool result" : "Program" }),
      EditorView.updateListener.of(({ docChanged }) => docChanged && this.onEdit()),
      readOnly ? [EditorState.readOnly.of(true)] : [],
    ];
    this.#view = new EditorView({ root, parent, extensions: this.#extensions });
  }

  get code(): string {
    return this.#view.state.doc.toString();
  }

  /** Shows another text, with a history of its own: an undo must not bring back the one before. */
  open(text: string): void {
    this.#view.setState(EditorState.create({ doc: text, extensions: this.#extensions }));
    this.#view.scrollDOM.scrollTo(0, 0);
  }

  /** Replaces the text as an edit, which can be undone. */
  replace(text: string): void {
    this.#view.dispatch({
      changes: { from: 0, to: this.#view.state.doc.length, insert: text },
      selection: { anchor: 0 },
      scrollIntoView: true,
    });
  }

  focus(): void {
    this.#view.focus();
  }

  /** Puts the cursor at a place that an error names; both count from 1. */
  goTo(line: number, column: number): void {
    const { doc } = this.#view.state;
    const place = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const anchor = Math.min(place.from + Math.max(column - 1, 0), place.to);
    this.#view.dispatch({ selection: { anchor }, scrollIntoView: true });
    this.#view.focus();
  }
}
