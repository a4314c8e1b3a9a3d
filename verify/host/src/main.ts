import { Playground } from "./playground.ts";
import { loadSandboxOrigin } from "./site.ts";

const fixture = new URLSearchParams(location.search).get("fixture");
const sandboxOrigin = await loadSandboxOrigin();
if (fixture === null) await Playground.open(sandboxOrigin);
else await (await import("./preview.ts")).openPreview(sandboxOrigin, fixture);
