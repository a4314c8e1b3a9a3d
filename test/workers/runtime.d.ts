// The bindings of vite.config.ts.
declare module "cloudflare:test" {
  export const env: {
    readonly GATEWAY: { fetch(request: Request): Promise<Response> };
  };
}
