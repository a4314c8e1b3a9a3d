import type { McpUiHostContext } from "@modelcontextprotocol/ext-apps";
import type { Theme } from "./messages.ts";

const VALUE_CHARS = 512;

/**
 * Puts the host's theme on the shell's own root and returns it for the inner document.
 * @param context what the host said so far
 * @param root the shell's `<html>`; a value that refers to the host's page is resolved against it
 */
export function applyTheme(context: McpUiHostContext, root: HTMLElement): Theme {
  const scheme = context.theme ?? preferredScheme();
  root.style.cssText = "";
  root.style.setProperty("color-scheme", scheme);
  const declared = Object.entries(context.styles?.variables ?? {});
  for (const [name, value] of declared) {
    if (value !== undefined && value.length <= VALUE_CHARS) root.style.setProperty(name, value);
  }
  const variables: Record<string, string> = {};
  for (const [name, value] of declared) {
    const usable = value === undefined ? undefined : usableValue(root, name, value);
    if (usable === undefined) root.style.removeProperty(name);
    else variables[name] = usable;
  }
  return { scheme, variables };
}

function preferredScheme(): Theme["scheme"] {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** A value that means something in a document of its own, else nothing: the built-in one stands. */
function usableValue(root: HTMLElement, name: string, declared: string): string | undefined {
  if (declared.length > VALUE_CHARS) return undefined;
  const value = declared.includes("var(")
    ? getComputedStyle(root).getPropertyValue(name).trim()
    : declared;
  if (value === "") return undefined;
  return name.startsWith("--color-") && !CSS.supports("color", value) ? undefined : value;
}
