/** Where a page of a program may stand. */
export interface Place {
  readonly name: string;
  /** The path of the page that a host puts into its frame. */
  readonly path: string;
  readonly page: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether anything there protects: a control is the same nest of frames without a defence. */
  readonly defended: boolean;
  /** What becomes of the program's HTML. */
  readonly changed?: (html: string) => string;
}

/** The policy that the specification gives to a resource that declares none. */
const HOST_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; media-src 'self' data:; font-src 'self'; connect-src 'none'; " +
  "frame-src 'none'; object-src 'none'; base-uri 'self'";

/** In our shell, as an ordinary host shows it: under the host's policy and its own. */
export function ordinary(shell: string): Place {
  const headers = { "content-security-policy": HOST_POLICY };
  return { name: "ordinary", path: "/shell", page: shell, headers, defended: true };
}

/** In our shell within another body and under no policy of the host: that of the view alone holds. */
export function moved(shell: string): Place {
  const page = `<!doctype html><html><head><title>host</title></head><body>${shell}</body></html>`;
  return { name: "moved", path: "/moved/shell", page, headers: {}, defended: true };
}

/** As in an ordinary host, whose answer also names the only addresses that may be reached. */
export function allowlisted(shell: string): Place {
  const place = ordinary(shell);
  const headers = { ...place.headers, "connection-allowlist": "(response-origin)" };
  return { ...place, name: "allowlisted", path: "/allowlisted/shell", headers };
}

const NONCE = "c29tZXRoaW5n";

/**
 * As in an ordinary host, but the view runs only scripts that carry a nonce, which those of the
 * program's own text get; the interfaces of WebRTC are taken away before.
 */
export function nonced(shell: string): Place {
  const policy = "script-src 'unsafe-inline'";
  const script = `<script nonce="${NONCE}">`;
  // The first policy is the page's own.
  const [start, ...rest] = shell.replaceAll("`<script>(", () => `\`${script}(`).split(policy);
  const page = `${start}${policy}${rest.join(`script-src 'nonce-${NONCE}'`)}`;
  const remove = "for (const name of Object.getOwnPropertyNames(self))";
  const removal = `${script}${remove} if (name.includes("RTC")) delete self[name]</script>`;
  const changed = (html: string) =>
    removal +
    html.replaceAll(/srcdoc="[^"]*"|<script>/g, (found) => (found === "<script>" ? script : found));
  return { ...ordinary(page), name: "nonced", path: "/nonced/shell", changed };
}

/** The control. @param script of a view page without a defence */
export function undefended(script: string): Place {
  const page = `<!doctype html><body><script>(${script})()</script>`;
  return { name: "control", path: "/naive", page, headers: {}, defended: false };
}
