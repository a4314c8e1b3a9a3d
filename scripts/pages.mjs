// `npm run pages`: writes the pages of documentation that are made of tables in the code.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { generatedPages } from "./pages/pages.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
for (const [path, text] of Object.entries(await generatedPages(root))) {
  writeFileSync(`${root}${path}`, text);
}
