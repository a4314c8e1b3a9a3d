const CONFIG = `import { api, tool } from "connecta";

// Written down once: everything that clients of this deployment find.
export default {
  name: "my-connecta",
  connectors: [
    api({
      id: "clock",
      title: "Clock",
      tools: {
        now: tool({
          description: "The time in a time zone.",
          inputSchema: {
            type: "object",
            properties: { timeZone: { type: "string", description: "Such as Europe/Berlin" } },
            additionalProperties: false,
          },
          annotations: { readOnlyHint: true },
          handler: ({ timeZone = "UTC" }) => ({
            timeZone,
            time: new Date().toLocaleString("en-GB", { timeZone, timeStyle: "long" }),
          }),
        }),
      },
    }),
    // An MCP server on the network: remoteMcp({ id: "crm", url: "https://crm.example.com/mcp" })
  ],
  // Without it only this machine may call. An open address needs it.
  ...(process.env.CONNECTA_TOKEN && { auth: { bearer: process.env.CONNECTA_TOKEN } }),
};
`;

const ENV = `# Copy this to .env, which is read when the deployment starts. Keep .env to yourself.

# What clients send as "Authorization: Bearer ...". Needed to listen on an open address:
# openssl rand -hex 32
CONNECTA_TOKEN=

# What credentials are sealed with, once the config has a store: npx connecta credentials key
CONNECTA_VAULT_KEY=
`;

const DOCKERFILE = `FROM node:22-slim
WORKDIR /app
COPY package*.json connecta-*.tgz ./
RUN npm install --omit=dev
COPY . .
# For a store, such as sqliteStorage({ file: "data/connecta.db" }).
RUN mkdir -p data && chown node data
USER node
EXPOSE 8787
CMD ["node_modules/.bin/connecta", "serve", "--host", "0.0.0.0"]
`;

const README = `# A connecta deployment

\`\`\`
npm install
npx connecta doctor     # is all well?
npx connecta dev        # with a page to try programs on; starts again when the config changes
npx connecta serve      # http://127.0.0.1:8787/mcp
\`\`\`

\`connecta.config.mjs\` lists the integrations. \`npx connecta tools\` shows what they offer,
\`npx connecta search "what time is it" --explain\` what a model would find.

## For others

An open address needs a token: copy \`.env.example\` to \`.env\` and fill in \`CONNECTA_TOKEN\`.

The dependency is the copy of connecta on this computer. An image needs it in this folder:

\`\`\`
npm install "./$(npm pack ./node_modules/connecta | tail -1)"
docker build -t my-connecta .
docker run --rm -p 8787:8787 --env-file .env my-connecta
\`\`\`
`;

/** @param connecta where npm finds the package */
function packageOf(connecta: string) {
  return {
    private: true,
    type: "module",
    scripts: { start: "connecta serve", dev: "connecta dev" },
    dependencies: { connecta },
  };
}

/**
 * The files of a new deployment, by name.
 * @param copy folder of the package: its name on the registry is not ours, so this copy is used
 */
export function initFiles(copy: string): Readonly<Record<string, string>> {
  return {
    "connecta.config.mjs": CONFIG,
    "package.json": `${JSON.stringify(packageOf(`file:${copy}`), null, 2)}\n`,
    ".env.example": ENV,
    ".gitignore": "node_modules\n.env\n*.db*\n",
    ".dockerignore": "node_modules\n.env\n.git\n",
    Dockerfile: DOCKERFILE,
    "README.md": README,
  };
}
