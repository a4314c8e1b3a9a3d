import { withRecovery } from "../invoke/recovery.ts";
import { failure, type Failure } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { clampUtf8 } from "../shared/text.ts";
import { failedResult, toolResult } from "./result.ts";
import type { Handler, ToolDeps } from "./tool.ts";

/** Says what a person must do before a connector's tools can be called. */
export const authorizeConnector: Handler<"authorize_connector"> = async (deps, input, scope) => {
  const connector = deps.connectors.find(({ id }) => id === input.connector);
  if (!connector) return failedResult(unknownConnector(deps, input.connector));
  if (!connector.authorize) {
    return toolResult({
      ok: true,
      connector: connector.id,
      status: "not_required",
      message:
        `${connector.id} has no sign-in of its own. If its tools fail with auth_required, whoever ` +
        "runs this deployment renews the credential in its config.",
    });
  }
  const done = await connector.authorize(scope, input.force ?? false);
  return done.ok
    ? toolResult({ ok: true, connector: connector.id, ...done.value })
    : failedResult(done.failure);
};

function unknownConnector(deps: ToolDeps, name: string): Failure {
  const ids = deps.connectors.map(({ id }) => id);
  const message = `No connector is called ${clampUtf8(name, LIMITS.echoBytes.value)}.`;
  const missed = failure("unknown_address", message, { suggestions: ids.slice(0, 3) });
  return withRecovery(missed, "outside", { address: name });
}
