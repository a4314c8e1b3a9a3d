/** A source of random values that is the same for the same seed, here and in any page. */
export interface Fuzz {
  /** A whole number from 0 to `below`, without `below`. */
  next(below: number): number;
  pick<T>(items: readonly T[]): T;
  /** Any value that can be posted to a window: plain data mostly, deep, odd or hostile. */
  value(): unknown;
  /** A JSON-RPC message, more or less, around methods and ids that somebody uses. */
  message(methods: readonly string[], ids: readonly unknown[]): unknown;
}

/** Makes a {@link Fuzz}. It travels into pages as text and closes over nothing. */
export default function fuzz(seed: number): Fuzz {
  let state = seed >>> 0;
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const pick = <T>(items: readonly T[]) => items[next(items.length)] as T;

  const NAMES = `theme styles variables css fonts displayMode availableDisplayModes height maxHeight
    containerDimensions safeAreaInsets top left toolInfo tool locale hostInfo hostCapabilities
    serverTools hostContext content type text structuredContent isError _meta connecta/ui html reads
    address fixedArgs viewArgs ok data error code message result toolResult status reason mode id
    args name method params jsonrpc render ui --font-sans __proto__ constructor prototype`.split(
    /\s+/,
  );
  const WORDS = `dark light system inline fullscreen 75vh error image </script><script>throw(1)//
    var(--x) url(x) item list detail toString __proto__ connecta/port connecta/theme call_tool 2.0
    ui://x {"result":1} {"error":{"code":"x"}} {"ok":true,"data":1} \ud800 \u202e \0`.split(/\s+/);
  const NUMBERS = [0, -0, 1, -1, 0.5, 400, 1e9, 2 ** 53, 1e308, Number.NaN, Infinity, -Infinity];
  const odd = () =>
    pick<() => unknown>([
      () => new Date(next(2) ? 0 : Number.NaN),
      () => /x/g,
      () => new Map([["html", "<p>map</p>"]]),
      () => new Set([1]),
      () => new Uint8Array(next(64)),
      () => new Error("posted"),
      () => 10n,
      () => Object.assign([1, 2], { length: next(9) }),
      () => "x".repeat(next(20_000)),
      () => {
        const cycle: Record<string, unknown> = {};
        return Object.assign(cycle, { params: cycle, result: cycle });
      },
      () => {
        let deep: unknown = 1;
        for (let level = next(300); level > 0; level--) deep = next(2) ? [deep] : { data: deep };
        return deep;
      },
    ])();
  const object = (depth: number) => {
    const made: Record<string, unknown> = {};
    for (let size = next(6); size > 0; size--) {
      const property = { value: value(depth + 1), enumerable: true, configurable: true };
      Object.defineProperty(made, pick(NAMES), { ...property, writable: true });
    }
    return made;
  };
  const value = (depth = 0): unknown => {
    const kind = depth > 4 ? next(4) : next(9);
    if (kind < 2) return pick(WORDS);
    if (kind === 2) return pick(NUMBERS);
    if (kind === 3) return pick([null, undefined, true, false, ""]);
    if (kind === 4) return odd();
    if (kind === 5) return Array.from({ length: next(5) }, () => value(depth + 1));
    return object(depth);
  };
  const message = (methods: readonly string[], ids: readonly unknown[]): unknown => {
    const kind = next(10);
    if (kind === 0) return value();
    const jsonrpc = next(20) ? "2.0" : value();
    const method = next(20) ? pick(methods) : value();
    const id = next(4) ? pick(ids) : value();
    if (kind < 5) return { jsonrpc, method, params: value() };
    if (kind < 7) return { jsonrpc, id, method, params: value() };
    return { jsonrpc, id, [kind === 7 ? "error" : "result"]: value() };
  };
  return { next, pick, value: () => value(), message };
}
