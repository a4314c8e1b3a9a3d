import { expect, test } from "vitest";
import { SizeReporter } from "../../shell/src/size.ts";

function measured() {
  const element = document.createElement("div");
  const sent: number[] = [];
  let height = 0;
  element.getBoundingClientRect = () => ({ height }) as DOMRect;
  const sizes = new SizeReporter(element, (value) => void sent.push(value));
  const grow = (value: number) => {
    height = value;
    sizes.measure();
  };
  return { sizes, sent, grow };
}

test("a height is reported when it changes and only then", () => {
  const { sizes, sent, grow } = measured();
  sizes.setActive(true);
  for (const height of [480, 480, 120.2, 121, 480]) grow(height);
  expect(sent).toEqual([1, 480, 121, 480]);
});

test("U14: no height is ever 0, negative or not a number", () => {
  const { sizes, sent, grow } = measured();
  sizes.setActive(true);
  for (const height of [0, -3, Number.NaN, Infinity, 0.2]) grow(height);
  expect(sent).toEqual([1]);
});

test("nothing is reported while the reporter rests, and the present height when it starts again", () => {
  const { sizes, sent, grow } = measured();
  grow(100);
  expect(sent).toEqual([]);
  sizes.setActive(true);
  sizes.setActive(false);
  grow(200);
  sizes.setActive(true);
  expect(sent).toEqual([100, 200]);
});
