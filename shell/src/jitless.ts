import { config } from "zod/v4/core";

// Before any schema exists: otherwise zod probes for `Function`, which the policy reports.
config({ jitless: true });
