import type { Connector } from "../shared/contracts.ts";

/** What servers say of themselves beside their name. */
const SERVES = /^(?:mcps?|servers?|apis?|examples?|official|tools?|plugins?|agents?)$/i;
/** A name has few words; a longer one wants to be found by everything. */
const MAX_WORDS = 5;
const MAX_CHARS = 200;

/**
 * What a connector is called besides its id: as its deployment says, else by the name that its
 * server gives itself.
 */
export function titleOf(connector: Pick<Connector, "title" | "ownTitle">): string | undefined {
  if (connector.title !== undefined) return connector.title;
  const words = (connector.ownTitle?.() ?? "")
    .slice(0, MAX_CHARS)
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== "" && !SERVES.test(word));
  return words.length === 0 ? undefined : words.slice(0, MAX_WORDS).join(" ");
}
