/** What a host page says again and again about itself and its view. */
export interface Beat {
  /** Requests to the shell that were answered since the program began to compute. */
  readonly answered: number;
  /** Whether a new view came up in the place of the busy one. */
  readonly again: boolean;
}

/**
 * Beats as long as the page is alive, as fast as it is answered. Once the view has made a call, it
 * asks the shell something at every beat; later it puts another view in its place.
 */
export default function heart(path: string, patience: number): void {
  let answered = 0;
  let again = false;
  let beats = 0;
  let computing = false;
  let renewed: HTMLIFrameElement | undefined;
  const frame = () => document.querySelector<HTMLIFrameElement>("#view");
  addEventListener("message", ({ data, source }) => {
    if (data?.method === "tools/call") computing = true;
    if (String(data?.id).startsWith("heart")) answered++;
    if (source !== null && source === renewed?.contentWindow) again = true;
  });
  const renew = (old: HTMLIFrameElement) => {
    renewed = document.createElement("iframe");
    renewed.setAttribute("sandbox", old.getAttribute("sandbox") ?? "allow-same-origin");
    renewed.src = old.src;
    old.replaceWith(renewed);
  };
  const beat = async () => {
    const body = JSON.stringify([{ answered, again }]);
    await fetch(path, { method: "POST", body });
    if (computing && ++beats < patience) {
      const id = `heart${beats}`;
      const request = { jsonrpc: "2.0", id, method: "ui/resource-teardown", params: {} };
      frame()?.contentWindow?.postMessage(request, "*");
    } else if (computing && !renewed) {
      const old = frame();
      if (old) renew(old);
    }
    void beat();
  };
  void beat();
}
