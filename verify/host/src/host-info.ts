import { config } from "zod/v4/core";

// Imported before whatever uses zod: it probes for `Function`, which the page's policy reports.
// A used export keeps the module, and so this call, in a bundle of side-effect-free modules.
config({ jitless: true });

/** What the page calls itself towards servers and views. */
export const HOST_INFO = { name: "connecta-host-page", version: "1" };
