import { beforeAll, describe, expect, test } from "vitest";
import { GROUPS, sourceOf, type Attack } from "./attacks.mjs";
import { useServer } from "./support/attacked.ts";
import type { Deployment } from "./support/deployment.ts";
import type { Ended, Gateway } from "./support/gateway.ts";
import { expectMemoryBack } from "./support/ordinary.ts";
import { UNFIT } from "./support/processes.ts";
import { sandboxProcesses, watchReading, Witnesses } from "./support/witnesses.ts";

const RECORD = { name: "a record", items: [1, 2, 3] };

describe.skipIf(UNFIT)(`hostile programs${UNFIT ? `: skipped, ${UNFIT}` : ""}`, () => {
  let deployment: Deployment;
  let gateway: Gateway;
  let beforeMb = 0;

  const server = useServer();
  beforeAll(() => {
    ({ deployment, gateway, beforeMb } = server());
  });

  /** Whether the server answers while something else happens, once at least. */
  async function answersUntil(ended: Promise<unknown>): Promise<void> {
    const state = { over: false };
    const end = () => (state.over = true);
    void ended.then(end, end);
    do {
      expect(await gateway.health()).toBe(200);
      expect(await gateway.call("data.read")).toEqual(RECORD);
    } while (!state.over);
  }

  /** Runs an attack beside witnesses; answers with the processes that it ran in and that crashed. */
  async function attacked(attack: Attack): Promise<{ ran: number[]; crashed: number[] }> {
    const pids = await sandboxProcesses(gateway);
    const witnesses = await Witnesses.start(gateway, pids);
    try {
      const program = sourceOf(attack);
      const reading = watchReading(pids);
      const attacking = gateway.run(program);
      await answersUntil(attacking);
      expectToCome(await attacking, attack);
      await answersUntil(Promise.resolve());
      const ran = reading.readAtLeast(Buffer.byteLength(program));
      return { ran, crashed: await witnesses.release() };
    } finally {
      await witnesses.leave();
    }
  }

  for (const { clauses, attacks } of GROUPS) {
    test.each(attacks.map((attack) => [attack.title, attack.code, attack] as const))(
      `${clauses}: %s ends as %s and harms nobody else`,
      async (_title, _code, attack) => {
        const { ran, crashed } = await attacked(attack);
        // A process that had to be killed is the one that the attack ran in, and no other.
        expect(crashed).toEqual(attack.mayCrash && crashed.length > 0 ? ran : []);
        expect(await gateway.run("async () => 6 * 7")).toEqual({ code: "ok", result: 42 });
      },
    );
  }

  test("L4: after all of them the server is hardly larger than before, and serves", async () => {
    await expectMemoryBack(deployment.pid, beforeMb);
    expect(await gateway.run("async () => (await data.read()).name")).toEqual({
      code: "ok",
      result: "a record",
    });
    expect(await gateway.call("gate.all")).toBe(0);
  });
});

function expectToCome(ended: Ended, attack: Attack): void {
  const { code, limit, result } = ended;
  expect({ code, ...(attack.limit !== undefined && { limit }) }).toEqual({
    code: attack.code,
    ...(attack.limit !== undefined && { limit: attack.limit }),
  });
  if ("result" in attack) expect(result).toEqual(attack.result);
}
