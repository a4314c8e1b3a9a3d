import type { Push, Theme } from "./messages.ts";

/**
 * First script of every inner document: applies the theme, now and whenever the shell pushes
 * another, and keeps links from destroying the frame. It travels as text and closes over nothing.
 */
export default function prelude(initial: Theme): void {
  const shell = window.parent;
  document.currentScript?.remove();

  const style = document.createElement("style");
  style.textContent = ":where(:root){}";
  document.head.append(style);
  const apply = (theme: Theme) => {
    const rule = style.sheet?.cssRules[0];
    if (!rule || !("style" in rule)) return;
    const declarations = rule.style as CSSStyleDeclaration;
    declarations.cssText = "";
    declarations.setProperty("color-scheme", theme.scheme);
    for (const name of Object.keys(theme.variables)) {
      declarations.setProperty(name, theme.variables[name] ?? "");
    }
  };
  apply(initial);
  window.addEventListener("message", (event) => {
    const push = event.data as Push | null;
    if (event.source !== shell || push?.type !== "connecta/theme") return;
    event.stopImmediatePropagation();
    apply(push.theme);
  });

  /** Where a click leads: the whole path counts, as a link may stand around a slot. */
  const targetOf = (path: readonly EventTarget[]) => {
    for (const node of path) {
      if (!(node instanceof Element) || !/^(a|area)$/.test(node.localName)) continue;
      const href =
        node.getAttribute("href") ?? node.getAttributeNS("http://www.w3.org/1999/xlink", "href");
      if (href !== null) return href;
    }
    return null;
  };

  // Following any link would replace this document, and with it the view.
  const onLink = (event: Event) => {
    const href = targetOf(event.composedPath());
    if (href === null || /^\s*javascript:/i.test(href)) return;
    event.preventDefault();
    if (event.type !== "click" || !href.startsWith("#") || href === "#") return;
    // The program's own handlers run after this one and may still refuse the jump.
    let refused = false;
    event.preventDefault = () => {
      refused = true;
    };
    setTimeout(() => {
      if (refused) return;
      if (location.hash === href) document.querySelector(":target")?.scrollIntoView();
      else location.hash = href;
    });
  };
  window.addEventListener("click", onLink, true);
  window.addEventListener("auxclick", onLink, true);
}
