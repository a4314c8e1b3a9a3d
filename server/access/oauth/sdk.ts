/** Loaded with the first authorization: most calls need none of it. */
export const loadSdk = () => import("@modelcontextprotocol/client");
