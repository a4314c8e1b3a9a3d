// What the Workers runtime offers as a module, as far as it is used here. Whoever has the runtime's
// own types in the project has more.
declare module "cloudflare:workers" {
  export class DurableObject<Env = unknown> {
    constructor(context: unknown, env: Env);
    protected env: Env;
  }
}
