/** A browser of one person as far as forms need one: cookies, redirects, fields. */
export class Browsing {
  readonly #cookies = new Map<string, string>();

  /** Opens an address and follows redirects as long as they stay with its host. */
  async open(address: string | URL, init: RequestInit = {}): Promise<Response> {
    let [url, next] = [new URL(address), init];
    for (;;) {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const headers = { ...next.headers, ...(cookie !== "" && { cookie }) };
      const response = await fetch(url, { ...next, headers, redirect: "manual" });
      for (const set of response.headers.getSetCookie()) this.#keep(set);
      const location = response.headers.get("location");
      if (location === null) return response;
      const to = new URL(location, url);
      if (to.host !== url.host) return response;
      [url, next] = [to, {}];
      this.at = to;
    }
  }

  /** Where the last redirect led. */
  at: URL | undefined;

  /** Sends the form of the page that is open. */
  send(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
    if (!this.at) throw new Error("no page is open");
    return this.open(this.at, { method: "POST", body: new URLSearchParams(fields), headers });
  }

  #keep(set: string): void {
    const [pair = ""] = set.split(";");
    const [name = "", value = ""] = pair.split("=");
    if (value === "") this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}
