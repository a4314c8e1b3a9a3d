import { api } from "../../server/index.ts";

/** What the person of the issuer proves who they are with. */
export const PASSPHRASE = "correct horse battery staple";

/** The least connector that a host can be let in to. */
export const clock = api({
  id: "clock",
  tools: {
    now: {
      description: "The time.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      handler: () => "noon",
    },
  },
});
