declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}

declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  export { EnvHttpProxyAgent as default } from "undici";
}
