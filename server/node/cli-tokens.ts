import { Tokens, type IssuedToken } from "../access/inbound/tokens.ts";
import { UsageError, type TokensCommand } from "./cli-command.ts";
import { opened } from "./cli-deployment.ts";
import { write } from "./cli-print.ts";
import { readyDeployment } from "./cli-ready.ts";

/** Creates, lists or revokes tokens in the store of a deployment, whether or not a server runs. */
export async function tokens(command: TokensCommand): Promise<void> {
  // Checked as a server would, so that no token is made which it could not admit.
  const { config, close } = await readyDeployment(command);
  const { storage, tokens: admitted } = config;
  if (!storage) {
    throw new UsageError(
      'tokens need a store: set storage: sqliteStorage({ file: "connecta.db" }) in the config.',
    );
  }
  if (command.action === "create" && !admitted) {
    throw new UsageError("the server would not look at tokens: set auth: { tokens: true } first.");
  }
  try {
    await carryOut(command, new Tokens(storage));
  } finally {
    await close();
  }
  // A config may have started what would keep the process.
  process.exit(0);
}

async function carryOut(command: TokensCommand, store: Tokens): Promise<void> {
  switch (command.action) {
    case "create": {
      const { token: name, expiresInMs } = command;
      const made = opened(await store.create({ name, ...(expiresInMs && { expiresInMs }) }));
      await write(`${command.json ? JSON.stringify(made, null, 2) : made.token}\n`);
      const end = made.expiresAt === undefined ? "does not expire" : `ends ${time(made.expiresAt)}`;
      console.error(`connecta: token ${made.id} ${end}. It is shown this once: keep it now.`);
      return;
    }
    case "list": {
      const list = opened(await store.list());
      await write(`${command.json ? JSON.stringify(list, null, 2) : asText(list)}\n`);
      return;
    }
    case "revoke":
      opened(await store.revoke(command.token));
      console.error(`connecta: token ${command.token} is revoked.`);
  }
}

const HEADINGS = ["ID", "CREATED", "EXPIRES", "LAST USED", "NAME"];

function asText(list: readonly IssuedToken[]): string {
  if (list.length === 0) return "No token was made.";
  const rows = list.map(({ id, name, createdAt, expiresAt, lastUsedAt }) => [
    id,
    time(createdAt),
    expiresAt === undefined ? "never" : expiresAt > Date.now() ? time(expiresAt) : "expired",
    lastUsedAt === undefined ? "never" : time(lastUsedAt),
    name,
  ]);
  return [HEADINGS, ...rows]
    .map(([id = "", created = "", expires = "", used = "", name = ""]) =>
      [id.padEnd(16), created.padEnd(17), expires.padEnd(17), used.padEnd(17), name].join("  "),
    )
    .join("\n");
}

/** `2030-01-31T12:30Z`. */
function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16)}Z`;
}
