import { expect, test } from "vitest";
import { Closing } from "../../server/shared/closing.ts";

test("closing calls back everyone once who still waits, and who comes later at once", () => {
  const closing = new Closing();
  const told: string[] = [];
  const shared = () => void told.push("twice");
  closing.onClose(() => told.push("one"));
  closing.onClose(() => told.push("gone"))();
  closing.onClose(shared);
  closing.onClose(shared);
  expect(told).toEqual([]);
  closing.close();
  closing.close();
  closing.onClose(() => told.push("late"));
  expect(told).toEqual(["one", "twice", "twice", "late"]);
});
