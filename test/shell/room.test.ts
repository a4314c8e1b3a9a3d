import { describe, expect, test } from "vitest";
import { NO_INSETS, roomFor } from "../../shell/src/room.ts";

const WIDTH = 700;
const BAR = 28;

describe("the room of a view", () => {
  test.each<[string, Parameters<typeof roomFor>[0], number]>([
    ["480 px without a bound", {}, 480],
    ["480 px for a height of nothing", { containerDimensions: { height: 0 } }, 480],
    ["the fixed height less the bar", { containerDimensions: { height: 400 } }, 372],
    ["the maximum less the bar", { containerDimensions: { maxHeight: 300 } }, 272],
    ["480 px below a generous maximum", { containerDimensions: { maxHeight: 5_000 } }, 480],
    ["one pixel at least", { containerDimensions: { height: 12 } }, 1],
  ])("is %s", (_, context, height) => {
    expect(roomFor(context, WIDTH, BAR)).toEqual({ height, insets: NO_INSETS });
  });

  test("keeps clear of the edges that a device covers", () => {
    const safeAreaInsets = { top: 59, right: 10, bottom: 34, left: 20 };
    const context = { containerDimensions: { height: 400 }, safeAreaInsets };
    expect(roomFor(context, WIDTH, BAR)).toEqual({ height: 279, insets: safeAreaInsets });
  });
});

describe("edges that leave a view no room", () => {
  const insets = { top: 100, right: 100, bottom: 100, left: 100 };

  test("above and below are ignored, in a fixed height and under a maximum", () => {
    const sides = { top: 0, right: 100, bottom: 0, left: 100 };
    for (const bound of [{ height: 399 }, { maxHeight: 399 }]) {
      const context = { containerDimensions: bound, safeAreaInsets: insets };
      expect(roomFor(context, WIDTH, 0)).toEqual({ height: 399, insets: sides });
    }
    const context = { containerDimensions: { height: 400 }, safeAreaInsets: insets };
    expect(roomFor(context, WIDTH, 0)).toEqual({ height: 200, insets });
  });

  test("at the sides are ignored, once the window has a width", () => {
    const widthOf = (width: number) => roomFor({ safeAreaInsets: insets }, width, 0).insets;
    expect(widthOf(399)).toEqual({ top: 100, right: 0, bottom: 100, left: 0 });
    expect(widthOf(400)).toEqual(insets);
    expect(widthOf(0)).toEqual(insets);
  });
});
