type Area = "localStorage" | "sessionStorage";

/** What the browser keeps under a name; nothing where it keeps nothing or refuses to say. */
export function recall(area: Area, name: string): string | undefined {
  try {
    return window[area].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Lets the browser keep a text, or forget it when there is none; a refusal costs only this. */
export function keep(area: Area, name: string, text: string | undefined): void {
  try {
    if (text === undefined) window[area].removeItem(name);
    else window[area].setItem(name, text);
  } catch {
    // Full or forbidden: the page itself goes on working.
  }
}
