// An MCP server over stdio that crashes, hangs and writes no JSON when it is asked to.
import { createInterface } from "node:readline";
import { answerTo } from "./downstream.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  const { body, misbehave } = answerTo(JSON.parse(line));
  if (body) process.stdout.write(`${JSON.stringify(body)}\n`);
  if (misbehave === "garbage") process.stdout.write('{"jsonrpc": "2.0", "id": \n');
  if (misbehave === "crash") process.exit(3);
}
