import css from "./defaults.css?raw";

/** Zero-specificity look of the shell and of every inner document; any rule of a program wins. */
export const DEFAULT_STYLES: { readonly css: string } = Object.freeze({ css });

/** The style variables of MCP Apps: exactly those that have a built-in value. */
export const STYLE_VARIABLES: readonly string[] =
  DEFAULT_STYLES.css.match(/--[a-z0-9-]+(?=:)/g) ?? [];
