// What a TypeScript user on Node writes.
import { fileActivity, listen, quickjsExecutor, sqliteStorage, stdioMcp } from "connecta/node";
import { quickjsExecutor as sandbox } from "connecta/sandbox";

const files = stdioMcp({ id: "files", command: "node", args: ["server.mjs"] });

// @ts-expect-error a port is a number; were the declarations not found, this would be no error
await listen({ connectors: [files] }, { port: "80" });

const server = await listen(
  {
    connectors: [files],
    executor: sandbox(),
    activity: fileActivity({ file: "activity.jsonl" }),
    storage: sqliteStorage({ file: "connecta.db" }),
  },
  { port: 0 },
);
const { url }: { readonly url: string } = server.ok ? server.value : { url: "" };
console.log(url, quickjsExecutor === sandbox);
