import { remoteMcp, type RemoteMcpOptions } from "../../../server/connectors/remote/remote.ts";
import { nodeOutbound } from "../../../server/node/outbound.ts";
import type { Connector } from "../../../server/shared/contracts.ts";
import { OutboundRules } from "../../../server/shared/outbound.ts";
import {
  fakeServer,
  type Answering,
  type FakeServer,
} from "../../../verify/hostile/downstream/support/http.ts";

const open: { close(): Promise<void> }[] = [];

/** A connector called `crm` to a fake server; both end with {@link disconnect}. */
export async function connected(
  answering: Answering,
  options: Partial<RemoteMcpOptions> = {},
): Promise<{ server: FakeServer; crm: Connector }> {
  const server = await fakeServer(answering);
  const crm = remoteMcp({ id: "crm", url: server.url, ...options });
  const outbound = nodeOutbound(new OutboundRules());
  crm.useFetch?.(outbound.fetch);
  open.push({ close: async () => outbound.close?.() }, server, {
    close: async () => crm.close?.(),
  });
  return { server, crm };
}

/** Ends what the test connected. */
export async function disconnect(): Promise<void> {
  for (const each of open.splice(0).toReversed()) await each.close();
}
