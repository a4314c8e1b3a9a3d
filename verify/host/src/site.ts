import { isPlainObject } from "../../../server/view/protocol.ts";
import type { Item } from "./picker.ts";

/** Reads where views are to be shown; without an answer the page cannot show any. */
export async function loadSandboxOrigin(): Promise<string> {
  const config = await loadJson("/host/config.json");
  if (isPlainObject(config) && typeof config.sandboxOrigin === "string") {
    return config.sandboxOrigin;
  }
  return location.origin;
}

/** Reads the example programs; without any the editor starts empty. */
export async function loadPrograms(): Promise<readonly Item[]> {
  const list = await loadJson("/host/programs.json");
  return Array.isArray(list) ? list.filter((item) => isItem(item)) : [];
}

async function loadJson(path: string): Promise<unknown> {
  try {
    const response = await fetch(path);
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

function isItem(value: unknown): value is Item {
  return (
    isPlainObject(value) &&
    ["id", "title", "description", "code"].every((name) => typeof value[name] === "string")
  );
}
