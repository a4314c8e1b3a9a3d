/**
 * The sandbox proxy: the outer frame of a view. It stands on its own origin, puts the view into a
 * second frame and passes messages between the two windows that it knows. It acts on none of them
 * but its own two, and on the host's theme.
 */
const READY = "ui/notifications/sandbox-proxy-ready";
const RESOURCE = "ui/notifications/sandbox-resource-ready";
const OWN_PREFIX = "ui/notifications/sandbox-";
const DEFAULT_SANDBOX = "allow-scripts allow-same-origin";

/** The string at a path of a message, if there is one. */
function stringAt(data: unknown, ...path: readonly string[]): string | undefined {
  let value = data;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, name);
  }
  return typeof value === "string" ? value : undefined;
}

/** A frame is see-through only while its colour scheme is that of the page around it. */
function followTheme(data: unknown): void {
  const theme =
    stringAt(data, "params", "theme") ?? stringAt(data, "result", "hostContext", "theme");
  if (theme !== "light" && theme !== "dark") return;
  document.documentElement.style.colorScheme = theme;
}

function run(hostOrigin: string): void {
  const inner = document.createElement("iframe");
  inner.title = "View";

  const load = (data: unknown) => {
    const html = stringAt(data, "params", "html");
    if (html === undefined || inner.isConnected) return;
    inner.setAttribute("sandbox", stringAt(data, "params", "sandbox") ?? DEFAULT_SANDBOX);
    inner.srcdoc = html;
    document.body.append(inner);
  };

  const fromHost = (data: unknown) => {
    const method = stringAt(data, "method");
    if (method === RESOURCE) return load(data);
    if (method?.startsWith(OWN_PREFIX)) return;
    followTheme(data);
    const opaque = !inner.sandbox.contains("allow-same-origin");
    inner.contentWindow?.postMessage(data, opaque ? "*" : location.origin);
  };

  window.addEventListener("message", ({ source, origin, data }: MessageEvent<unknown>) => {
    if (source === window.parent) {
      if (origin === hostOrigin) fromHost(data);
    } else if (source !== null && source === inner.contentWindow) {
      if (stringAt(data, "method")?.startsWith(OWN_PREFIX)) return;
      window.parent.postMessage(data, hostOrigin);
    }
  });
  window.parent.postMessage({ jsonrpc: "2.0", method: READY, params: {} }, hostOrigin);
}

// The response header lets only the host page frame this one; the referrer says at which name.
if (window.parent !== window && document.referrer !== "") run(new URL(document.referrer).origin);
