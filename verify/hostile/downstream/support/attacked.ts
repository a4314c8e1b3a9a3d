import { remoteMcp, type RemoteMcpOptions } from "../../../../server/index.ts";
import { gateway, type Gateway } from "./gateway.ts";
import { fakeServer, type Answering, type FakeServer } from "./http.ts";

const open: { close(): Promise<void> }[] = [];

/** Ends what the test opened, the latest first. */
export async function closeAll(): Promise<void> {
  for (const each of open.splice(0).toReversed()) await each.close();
}

/** Closes something with the test. */
export function closing<T extends { close(): Promise<void> }>(one: T): T {
  open.push(one);
  return one;
}

/** A gateway before one server, called `crm`, that answers like this. */
export async function attacked(
  answering: Answering,
  options: Partial<RemoteMcpOptions> = {},
): Promise<{ server: FakeServer; front: Gateway }> {
  const server = closing(await fakeServer(answering));
  const front = closing(gateway(remoteMcp({ id: "crm", url: server.url, ...options })));
  return { server, front };
}

/** A generation's server that answers one method in another way. */
export function answering(
  generation: (special: Answering) => Answering,
  method: string,
  answer: Answering,
): Answering {
  return generation((asked, reply) => {
    if (asked.method !== method) return false;
    answer(asked, reply);
    return true;
  });
}
