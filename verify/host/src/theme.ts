import type { McpUiHostContext } from "@modelcontextprotocol/ext-apps/app-bridge";
import { keep, recall } from "./stored.ts";

type Styles = NonNullable<NonNullable<McpUiHostContext["styles"]>["variables"]>;
type Preference = "system" | "light" | "dark";

const STORED = "connecta-theme";

/** Which of the page's own colours stand behind the names that views may use. */
const COLOURS: Partial<Record<keyof Styles, string>> = {
  "--color-background-primary": "--surface",
  "--color-background-secondary": "--raised",
  "--color-background-tertiary": "--ground",
  "--color-background-inverse": "--text",
  "--color-background-info": "--info-soft",
  "--color-background-danger": "--danger-soft",
  "--color-background-success": "--good-soft",
  "--color-background-warning": "--warn-soft",
  "--color-text-primary": "--text",
  "--color-text-secondary": "--text-quiet",
  "--color-text-tertiary": "--text-faint",
  "--color-text-inverse": "--surface",
  "--color-text-info": "--info",
  "--color-text-danger": "--danger",
  "--color-text-success": "--good",
  "--color-text-warning": "--warn",
  "--color-border-primary": "--line-strong",
  "--color-border-secondary": "--line",
  "--color-border-tertiary": "--line",
  "--color-ring-primary": "--accent",
};

const REST: Partial<Record<keyof Styles, string>> = {
  "--font-weight-normal": "400",
  "--font-weight-medium": "500",
  "--font-weight-semibold": "600",
  "--font-weight-bold": "700",
  "--border-radius-sm": "4px",
  "--border-radius-md": "6px",
  "--border-radius-lg": "10px",
  "--border-width-regular": "1px",
};

/** Light or dark: the system's choice, or the person's. */
export class Theme {
  readonly #media = matchMedia("(prefers-color-scheme: dark)");
  readonly #listeners: (() => void)[] = [];
  #preference: Preference = "system";

  constructor() {
    const stored = recall("localStorage", STORED);
    if (stored === "light" || stored === "dark") this.#preference = stored;
    this.#media.addEventListener("change", () => this.#apply());
    this.#apply();
  }

  get preference(): Preference {
    return this.#preference;
  }

  get current(): "light" | "dark" {
    if (this.#preference !== "system") return this.#preference;
    return this.#media.matches ? "dark" : "light";
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  choose(preference: Preference): void {
    this.#preference = preference;
    keep("localStorage", STORED, preference === "system" ? undefined : preference);
    this.#apply();
  }

  /** The page's look under the names of the Apps specification, as plain values. */
  variables(): Styles {
    const probe = document.body.appendChild(document.createElement("i"));
    const result: Partial<Record<keyof Styles, string>> = { ...REST };
    for (const [name, own] of Object.entries(COLOURS)) {
      probe.style.color = `var(${own})`;
      result[name as keyof Styles] = getComputedStyle(probe).color;
    }
    const root = getComputedStyle(document.documentElement);
    result["--font-sans"] = root.getPropertyValue("--sans").trim();
    result["--font-mono"] = root.getPropertyValue("--mono").trim();
    probe.remove();
    return result as Styles;
  }

  #apply(): void {
    if (this.#preference === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = this.#preference;
    for (const listener of this.#listeners) listener();
  }
}

/** Binds the three radio buttons of the page to the theme. */
export function bindThemeSwitch(theme: Theme, group: HTMLElement): void {
  for (const input of group.querySelectorAll("input")) {
    input.checked = input.value === theme.preference;
    input.addEventListener("change", () => {
      const { value } = input;
      if (value === "system" || value === "light" || value === "dark") theme.choose(value);
    });
  }
}
