import { isConnectorId, isReserved } from "../../shared/connector-id.ts";
import { identifier } from "../../shared/identifier.ts";

const MAX_CHARS = 64;

/** Ids that are given out, so that none is given out twice. */
export class Ids {
  readonly #globals: Set<string>;

  /** @param taken ids that are in use already */
  constructor(taken: readonly string[]) {
    this.#globals = new Set(taken.map(identifier));
  }

  /** An id as near to a name as connectors allow, and unlike every other. */
  give(name: string): string {
    const plain = usable(name);
    for (let n = 1; ; n++) {
      const suffix = n === 1 ? "" : `-${n}`;
      const id = `${plain.slice(0, MAX_CHARS - suffix.length)}${suffix}`;
      if (this.#globals.has(identifier(id))) continue;
      this.#globals.add(identifier(id));
      return id;
    }
  }
}

function usable(name: string): string {
  if (isConnectorId(name)) return isReserved(name) ? `${name}-server` : name;
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "");
  if (plain === "") return "server";
  const started = /^[A-Za-z]/.test(plain) ? plain : `server-${plain.replace(/^_+/, "")}`;
  return isReserved(started) ? `${started}-server` : started;
}
