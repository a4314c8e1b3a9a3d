// @ts-check
import { git } from "./git.mjs";
import { system } from "./system.mjs";

export default {
  name: "connecta demo",
  connectors: [system(), git({ cwd: process.cwd() })],
};
