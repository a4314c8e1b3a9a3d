import { parentPort } from "node:worker_threads";
import { readProgram } from "../programs/source.ts";

// The whole program of the thread that reads sources: one text in, one outcome out, in turn.
parentPort?.on("message", (code: string) => parentPort?.postMessage(readProgram(code), []));
