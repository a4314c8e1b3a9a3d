import { readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { api, ToolError } from "connecta";

const FOLDER = process.env.FILES_FOLDER ?? ".";

const files = api({
  id: "files",
  description: "The files of one folder of mine",
  tools: {
    list: {
      description: "List the files of the folder with size and age, the largest first.",
      inputSchema: {
        type: "object",
        properties: { limit: { type: "integer", minimum: 1, maximum: 100, default: 20 } },
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true },
      async handler({ limit = 20 }) {
        const entries = await readdir(FOLDER, { withFileTypes: true });
        const found = entries.filter((entry) => entry.isFile()).map(({ name }) => measured(name));
        const all = (await Promise.all(found)).sort((a, b) => b.bytes - a.bytes);
        return { total: all.length, files: all.slice(0, limit) };
      },
    },
    rename: {
      description: "Give a file another name; a file that has it already is replaced.",
      inputSchema: {
        type: "object",
        properties: { from: { type: "string" }, to: { type: "string" } },
        required: ["from", "to"],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: false },
      async handler({ from, to }) {
        if ([from, to].some((name) => /[/\\]|^\.+$/.test(name))) {
          throw new ToolError("Give names, not paths.");
        }
        await rename(join(FOLDER, from), join(FOLDER, to));
        return { name: to };
      },
    },
  },
});

async function measured(name) {
  const { size, mtime } = await stat(join(FOLDER, name));
  return { name, bytes: size, modified: mtime.toISOString() };
}

export default { connectors: [files] };
