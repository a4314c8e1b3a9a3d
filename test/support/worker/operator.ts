import { SECRET } from "../../../verify/operator/deployment.ts";

type Fields = Readonly<Record<string, string>>;

/** What a form came to. */
interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Somebody who signed in on the operator page, without a browser. */
export class Operator {
  readonly #url: string;
  readonly cookie: string;

  /** @param cookie the one of a session */
  constructor(url: string, cookie: string) {
    this.#url = url;
    this.cookie = cookie;
  }

  /** Signs in; throws with the status where the secret is refused. */
  static async signIn(url: string, secret = SECRET): Promise<Operator> {
    const response = await fetch(`${url}/operator/sign-in`, {
      method: "POST",
      redirect: "manual",
      headers: { origin: url },
      body: new URLSearchParams({ secret }),
    });
    await response.text();
    const cookies = response.headers.getSetCookie().map((one) => one.split(";")[0] ?? "");
    const session = cookies.find((one) => one.startsWith("connecta_operator="));
    if (session === undefined) throw new Error(`HTTP ${response.status}`);
    return new Operator(url, session);
  }

  /** A page of the session; `undefined` where the cookie opens none. */
  async page(path = ""): Promise<string | undefined> {
    const response = await fetch(`${this.#url}/operator${path}`, {
      redirect: "manual",
      headers: { cookie: this.cookie },
    });
    const text = await response.text();
    return response.status === 200 ? text : undefined;
  }

  /**
   * Sends a form of a page; gives the status and the page that answers.
   * @param more headers, over those that a browser sends
   */
  async send(path: string, fields: Fields, more: Fields = {}): Promise<Answer> {
    return this.#post(path, { form: await this.#formToken(path), ...fields }, more);
  }

  /** Ends the session. */
  async signOut(): Promise<void> {
    await this.#post("/sign-out", { form: await this.#formToken("") });
  }

  /** Begins an authorization; gives the address for the person. */
  async authorize(connector: string): Promise<string> {
    const { text } = await this.send("/credentials", { action: "authorize", connector });
    const link = /href="(https?:[^"]+)" target="_blank"/.exec(text)?.[1];
    if (link === undefined) throw new Error(text);
    return link.replaceAll("&amp;", "&");
  }

  async #formToken(path: string): Promise<string> {
    return /name="form" value="([0-9a-f]+)"/.exec((await this.page(path)) ?? "")?.[1] ?? "";
  }

  async #post(path: string, fields: Fields, more: Fields = {}): Promise<Answer> {
    const response = await fetch(`${this.#url}/operator${path}`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie: this.cookie, origin: this.#url, ...more },
      body: new URLSearchParams(fields),
    });
    return { status: response.status, text: await response.text() };
  }
}
