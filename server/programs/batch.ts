import type { Outcome } from "../shared/failure.ts";
import { tooLarge } from "./carry.ts";
import type { Room, Share } from "./in-flight.ts";
import type { Answer } from "./reply.ts";

/** One call of a batch and what it was answered. */
export interface Entry {
  readonly address: string;
  readonly answer: Outcome<Answer>;
}

/**
 * Makes the calls of a batch side by side. Their answers cross the bridge together, under the bound
 * of one: what comes too late in their order is dropped as soon as that is certain.
 */
export async function gather<Call extends { readonly address: string }>(
  calls: readonly Call[],
  maxResultBytes: number,
  room: Room,
  make: (call: Call, room: Share) => Promise<Outcome<Answer>>,
): Promise<{ readonly entries: readonly Entry[]; readonly bytes: number }> {
  const shares = calls.map(() => ({ bytes: 0 }));
  const answers: Outcome<Answer>[] = [];
  const sizes = calls.map(() => 0);
  const held = () => shares.reduce((sum, { bytes }) => sum + bytes, 0);
  const share = (at: number): Share => {
    const own = shares[at] ?? { bytes: 0 };
    return {
      hold(bytes) {
        const refused = room.hold(held() - own.bytes + bytes);
        if (!refused) own.bytes = bytes;
        return refused;
      },
      correct(bytes) {
        own.bytes = bytes;
        room.correct(held());
      },
    };
  };
  const drop = (): void => {
    let bytes = 0;
    for (const [at, { address }] of calls.entries()) {
      const size = sizes[at] ?? 0;
      bytes += size;
      if (bytes <= maxResultBytes || answers[at]?.ok !== true) continue;
      answers[at] = tooLarge(address, size, maxResultBytes);
      share(at).correct(0);
    }
  };
  await Promise.all(
    calls.map(async (call, at) => {
      const answer = await make(call, share(at));
      answers[at] = answer;
      if (answer.ok) sizes[at] = answer.value.bytes;
      else share(at).correct(0);
      drop();
    }),
  );
  const entries = calls.flatMap(({ address }, at) => {
    const answer = answers[at];
    return answer === undefined ? [] : [{ address, answer }];
  });
  return { entries, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
