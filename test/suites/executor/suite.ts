import { afterAll, describe, test } from "vitest";
import type { Ability, Case, Input } from "./case.ts";
import { CASES } from "./cases/index.ts";
import { gatewayOf, type Gateway } from "./client.ts";
import type { DeploymentName } from "./deployment.ts";

/** A deployment that serves requests, wherever it runs. */
export interface Served {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Registers the whole table for one executor.
 * @param name the executor's
 * @param open serves one of the deployments of deployment.ts; asked once for each that is needed
 * @param abilities what the executor can do of that which not every one can
 */
export function executorSuite(
  name: string,
  open: (deployment: DeploymentName) => Promise<Served>,
  abilities: readonly Ability[],
): void {
  const opened = new Map<DeploymentName, Promise<Served>>();
  const gateway = async (deployment: DeploymentName): Promise<Gateway> => {
    const served = opened.get(deployment) ?? open(deployment);
    opened.set(deployment, served);
    const ready = await served;
    return gatewayOf((request) => ready.fetch(request));
  };
  afterAll(async () => {
    for (const served of opened.values()) await (await served).close();
  });

  describe(`on ${name}`, () => {
    for (const one of CASES) register(one, gateway, abilities);
  });
}

function register(
  one: Case,
  gateway: (deployment: DeploymentName) => Promise<Gateway>,
  abilities: readonly Ability[],
): void {
  const add = (input: Input, what: string) => {
    const { deployment = one.deployment ?? "default", needs = one.needs } = input;
    const able = needs === undefined || abilities.includes(needs);
    test.skipIf(!able)(`${one.clauses.join(", ")}: ${one.title}${what}`, async () =>
      perform(input, await gateway(deployment)),
    );
  };
  if (!("inputs" in one)) add(one, "");
  else for (const [what, input] of Object.entries(one.inputs)) add(input, `: ${what}`);
}

async function perform(input: Input, gateway: Gateway): Promise<void> {
  if ("script" in input) return input.script(gateway);
  const { code, diagnostics = false, check } = input;
  check(await gateway.run(code, { diagnostics }));
}
