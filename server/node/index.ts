export { listen, type Listening, type ListenOptions } from "./listen.ts";
export { quickjsExecutor } from "../sandbox/pool.ts";
