import type { Case } from "../case.ts";
import { addressing } from "./addressing.ts";
import { discovery } from "./discovery.ts";
import { emitted } from "./emitted.ts";
import { errors } from "./errors.ts";
import { executors } from "./executors.ts";
import { failures } from "./failures.ts";
import { forms } from "./forms.ts";
import { isolation } from "./isolation.ts";
import { limits } from "./limits.ts";
import { results } from "./results.ts";
import { sharing } from "./sharing.ts";
import { values } from "./values.ts";
import { views } from "./views.ts";

/** The whole table. */
export const CASES: readonly Case[] = [
  ...forms,
  ...isolation,
  ...values,
  ...addressing,
  ...discovery,
  ...errors,
  ...failures,
  ...results,
  ...limits,
  ...sharing,
  ...emitted,
  ...views,
  ...executors,
];
