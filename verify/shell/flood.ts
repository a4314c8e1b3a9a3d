import type { Fuzz } from "./fuzz.ts";

/** How a flood from the host goes. */
export interface HostFlood {
  readonly seed: number;
  readonly count: number;
  /** Whether the view is asked to end in the second half, which is the last that it heeds. */
  readonly teardown: boolean;
}

/**
 * Sends the view messages as no honest host would, from the host's page: the source of values is
 * put there as `makeFuzz`. It travels as text and closes over nothing.
 */
export default function flood({ seed, count, teardown }: HostFlood): void {
  type Sent = { from: string; message: { id?: unknown; method?: string } };
  const { makeFuzz, host } = window as unknown as {
    makeFuzz(seed: number): Fuzz;
    host: { passed: Sent[] };
  };
  const frame = document.querySelector<HTMLIFrameElement>("#view")?.contentWindow;
  const { next, pick, value, message } = makeFuzz(seed);
  const notes =
    "tool-result tool-result tool-input tool-input-partial tool-cancelled host-context-changed"
      .split(" ")
      .map((name) => `ui/notifications/${name}`);
  const others =
    "ping tools/list tools/call notifications/cancelled notifications/progress ui/initialize".split(
      " ",
    );
  const asked = host.passed.filter(({ from, message: { id, method } }) => {
    return from === "view" && id !== undefined && method !== undefined;
  });
  const ids = [
    0,
    1,
    "1",
    ...asked.flatMap(({ message: { id } }) => [id, String(id), Number(id) + 1]),
  ];
  // Almost right, which goes deeper than noise does. A page is never noise: that might well throw.
  const html = () => pick<unknown>(["<p>fuzzed</p>", "<p>fuzzed</p>", "", 7, null, {}]);
  const params = [
    () => ({ _meta: { "connecta/ui": { html: html(), reads: value() } }, content: value() }),
    () => ({ _meta: { "connecta/ui": { html: html() } }, structuredContent: value() }),
    () => ({ structuredContent: { error: { code: value(), message: value() } }, isError: true }),
    () => ({ structuredContent: { result: value(), ui: value() }, content: value() }),
    () => ({
      content: [{ type: value(), text: pick(["text", value()]) }, value()],
      isError: next(2) === 0,
    }),
    () => ({ reason: value() }),
    () => ({ theme: value(), styles: { variables: value() }, displayMode: value() }),
    () => ({ containerDimensions: value(), safeAreaInsets: { top: value(), left: value() } }),
    () => ({ availableDisplayModes: value(), toolInfo: value(), locale: value() }),
    value,
  ];
  const near = () => ({ jsonrpc: "2.0", method: pick(notes), params: pick(params)() });
  const methods = [...notes, ...others];
  for (let sent = 0; sent < count; sent++) {
    if (teardown && sent === count >> 1) methods.push("ui/resource-teardown");
    frame?.postMessage(next(2) ? near() : message(methods, ids), "*");
  }
}
