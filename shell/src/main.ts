import { keepPolicy } from "./policy.ts";
import { startShell } from "./shell.ts";

keepPolicy(document);
startShell(window.parent);
