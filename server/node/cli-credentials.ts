import { type CredentialDesk, type CredentialState } from "../access/desk.ts";
import { newVaultKey } from "../access/keys.ts";
import { LIMITS } from "../shared/limits.ts";
import { UsageError, type CredentialsCommand } from "./cli-command.ts";
import { opened } from "./cli-deployment.ts";
import { checkConnector, readyDeployment } from "./cli-ready.ts";
import { operatorScope } from "../catalog/inspect.ts";
import { askHidden, readPiped } from "./hidden-input.ts";

/** Looks at, takes, tries or removes what people hand over; a server that runs uses it at once. */
export async function credentials(command: CredentialsCommand): Promise<void> {
  if (command.action === "key") return console.log(newVaultKey());
  const { config, desk, close } = await readyDeployment(command);
  try {
    if (desk === undefined)
      throw new UsageError("no connector of this deployment needs a credential.");
    checkConnector(command.connector, config);
    await act(desk, command);
  } finally {
    await close();
  }
}

async function act(desk: CredentialDesk, command: CredentialsCommand): Promise<void> {
  const { action, connector = "", field } = command;
  switch (action) {
    case "list":
      return list(await desk.list(), command.connector);
    case "set":
      return set(desk, connector, field);
    case "test":
      return console.log(
        opened(await desk.test(connector, operatorScope(new AbortController().signal))),
      );
    case "remove":
      opened(await desk.remove(connector, field));
      return console.log(`${connector}: removed.`);
    default: {
      const { resealed, current, unreadable } = opened(await desk.rotate());
      console.log(`${resealed} sealed anew, ${current} current, ${unreadable.length} unreadable.`);
      for (const each of unreadable) console.log(`  ${each}: no key of the vault opens it`);
    }
  }
}

async function set(
  desk: CredentialDesk,
  connector: string,
  only: string | undefined,
): Promise<void> {
  const state = (await desk.list()).find((one) => one.connector === connector);
  if (state?.kind !== "fields") {
    // Says for what kind of connector it is of no use.
    opened(await desk.set(connector, {}));
    return;
  }
  const fields = state.fields.filter(({ name }) => only === undefined || name === only);
  const [first] = fields;
  if (first === undefined) {
    const names = state.fields.map(({ name }) => name).join(", ");
    throw new UsageError(`The credential of ${connector} has no field ${only}; it has: ${names}.`);
  }
  const { stdin, stderr } = process;
  const values: Record<string, string> = {};
  if (stdin.isTTY) {
    if (state.instructions !== undefined) stderr.write(`${state.instructions}\n`);
    for (const { name, title } of fields) {
      const typed = await askHidden(title, { input: stdin, output: stderr });
      if (typed === undefined) throw new UsageError("nothing was changed.");
      values[name] = typed;
    }
  } else if (fields.length === 1) {
    values[first.name] = await readPiped(stdin, LIMITS.credentialBytes.value);
  } else {
    const names = fields.map(({ name }) => name).join(", ");
    throw new UsageError(`name the field that is piped, one of: ${names}.`);
  }
  opened(await desk.set(connector, values));
  console.log(`${connector}: ${fields.map(({ name }) => name).join(", ")} set.`);
}

function list(states: readonly CredentialState[], only: string | undefined): void {
  for (const state of states) {
    if (only !== undefined && state.connector !== only) continue;
    if (state.kind === "oauth") {
      const { issuer = "", message = "" } = state;
      console.log(
        [`${state.connector}: ${state.state}`, issuer, message].filter(Boolean).join("  "),
      );
      continue;
    }
    console.log(`${state.connector}:`);
    for (const { name, title, state: how, ending, message = "" } of state.fields) {
      const shown = ending === undefined ? how : `${how} …${ending}`;
      console.log([`  ${name}`, shown, title, message].filter(Boolean).join("  "));
    }
  }
}
