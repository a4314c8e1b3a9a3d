import type { Storage } from "../../../server/shared/storage.ts";
import { BEARER, SECRET } from "../../../verify/operator/deployment.ts";
import {
  startIsolates,
  type IsolateName,
  type Isolates,
} from "../../../verify/support/isolates.ts";
import { KEY } from "../authorization/deployment.ts";
import { MACHINE } from "../authorization/issuer.ts";
import { valueOf } from "../catalog.ts";
import type { Surroundings } from "./surroundings.ts";

const SHARED = "shared";

/** Two isolates of the Worker, and a door to the first through which callers leave. */
export interface Deployment extends Isolates {
  /** The shared store without a name. */
  store(name?: string): Storage;
  /** Removes everything from the shared store. */
  empty(): Promise<void>;
}

/** What may differ from one deployment to another. */
interface DeploymentOptions {
  /** The name of each isolate's store. */
  readonly stores?: Readonly<Record<IsolateName, string>>;
}

/** Starts a deployment that knows nothing yet. */
export async function deployed(
  { issuer, resource, script, door }: Surroundings,
  { stores }: DeploymentOptions = {},
): Promise<Deployment> {
  const isolates = await startIsolates({
    script: () => script,
    bindings: (url, name) => ({
      PUBLIC_URL: url,
      STORE_NAME: stores?.[name] ?? SHARED,
      ISSUER: issuer.origin,
      SERVER: resource.url,
      CONNECTA_TOKEN: BEARER,
      CONNECTA_VAULT_KEY: KEY,
      CONNECTA_OPERATOR_SECRET: SECRET,
      CLIENT_ID: MACHINE.clientId,
      CLIENT_SECRET: MACHINE.clientSecret,
    }),
    door,
  });
  const { store: named } = isolates;
  const store = (name = SHARED) => named(name);
  return Object.assign(isolates, {
    store,
    async empty() {
      for (const key of valueOf(await store().list(""))) valueOf(await store().delete(key));
    },
  });
}
