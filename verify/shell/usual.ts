import { afterAll, afterEach, beforeAll } from "vitest";
import * as results from "./results.ts";
import { Stage } from "./stage.ts";

/** The view that most tests show: what it holds, and how a person's eye reads it. */
export const PAGE = `<h1>Title</h1><p>Text</p>`;
export const READS = { item: { address: "shop.item", viewArgs: ["id"] } };
export const VIEW = "view: Title Text";
export const RUNNING = "line: Running\u2026";
export const view = results.viewResult(PAGE, READS);

/** A host whose every call answers with the same value. */
export const landing = () => Promise.resolve(results.valueResult("landed"));

/** One stage for all tests of a file, cleared after each. */
export function useStage(): () => Stage {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.start();
  });
  afterEach(() => stage.clear());
  afterAll(() => stage.close());
  return () => stage;
}
