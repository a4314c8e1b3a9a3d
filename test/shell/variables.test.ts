import { describe, expect, test } from "vitest";
import { DEFAULT_STYLES, STYLE_VARIABLES } from "../../shell/src/variables.ts";

const declared = new Map(
  [...DEFAULT_STYLES.css.matchAll(/^ {2}(--[a-z0-9-]+): ([^;]+);$/gm)].map(
    ([, name = "", value = ""]) => [name, value],
  ),
);

/** The two values of a colour, for light and for dark. */
function schemes(name: string): readonly [string, string] {
  const [, light = "", dark = ""] =
    /^light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)$/.exec(declared.get(name) ?? "") ?? [];
  return [light, dark];
}

/** Relative luminance of `#rrggbb`, as WCAG defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

describe("what a host does not say has a built-in value", () => {
  test("for every style variable, once", () => {
    expect([...declared.keys()]).toEqual(STYLE_VARIABLES);
    expect(declared.size).toBe(76);
  });

  test("which has two colours for every colour that is not clear", () => {
    const colours = [...declared].filter(
      ([name, value]) => name.startsWith("--color-") && value !== "transparent",
    );
    expect(colours.length).toBeGreaterThan(30);
    for (const [name] of colours) {
      const [light, dark] = schemes(name);
      expect([name, light === "" || light === dark]).toEqual([name, false]);
    }
  });

  const TEXTS = ["primary", "secondary", "info", "danger", "success", "warning"];
  test.each(TEXTS)("on which text can be read, in light and dark: %s", (kind) => {
    for (const ground of ["primary", "secondary"]) {
      const texts = schemes(`--color-text-${kind}`);
      const grounds = schemes(`--color-background-${ground}`);
      for (const scheme of [0, 1] as const) {
        expect(contrast(texts[scheme], grounds[scheme])).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  test("as the measure of contrast says of black and white, and of grey on grey", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
    expect(contrast("#777777", "#888888")).toBeLessThan(4.5);
  });
});
