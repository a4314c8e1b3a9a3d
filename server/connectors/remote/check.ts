import { isRecord } from "../../shared/record.ts";
import { checkMcp } from "../mcp/options.ts";
import { readAuthorization, type Authorization } from "./authorization.ts";
import type { RemoteMcpOptions } from "./remote.ts";

/** Headers that belong to the protocol or to HTTP itself. */
const NOT_OURS = /^(mcp-|content-|host$|connection$|transfer-encoding$|accept$)/i;

/** What of the options was read into another form. */
export interface Checked {
  readonly url: URL;
  readonly maxBytes: number;
  readonly authorization: Authorization | undefined;
}

/**
 * Refuses options of a remote server that cannot be used.
 * @throws TypeError naming the option and the fix, never a header's value
 */
export function checkRemote(options: RemoteMcpOptions): Checked {
  const maxBytes = checkMcp("remoteMcp", options);
  const at = `remoteMcp(${options.id})`;
  const { url, headers, protocol, redirects } = options;
  if (headers !== undefined && typeof headers !== "function") checkHeaders(at, headers);
  if (protocol !== undefined && protocol !== "auto" && protocol !== "legacy") {
    throw new TypeError(`${at}.protocol must be "auto" or "legacy".`);
  }
  if (redirects !== undefined && redirects !== "same-origin" && redirects !== "none") {
    throw new TypeError(`${at}.redirects must be "same-origin" or "none".`);
  }
  const checked = checkedUrl(at, url);
  const authorization = readAuthorization(at, options, checked.href);
  if (authorization !== undefined && headers !== undefined) {
    const names = typeof headers === "function" ? ["authorization"] : Object.keys(headers);
    if (names.some((name) => name.toLowerCase() === "authorization")) {
      throw new TypeError(`${at}.headers authenticates, and so does credential or auth: keep one.`);
    }
  }
  return { url: checked, maxBytes, authorization };
}

/** Whether HTTP takes these headers, which nobody checked before. */
export function canBeSent(headers: Readonly<Record<string, string>>): boolean {
  try {
    for (const name of new Headers(headers).keys()) if (NOT_OURS.test(name)) return false;
    return true;
  } catch {
    return false;
  }
}

function checkedUrl(at: string, given: unknown): URL {
  const text = given instanceof URL ? given.href : given;
  if (typeof text !== "string" || !URL.canParse(text)) {
    throw new TypeError(
      `${at}.url is no URL: give the server's endpoint, such as https://host/mcp.`,
    );
  }
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new TypeError(`${at}.url must begin with https:// or http://.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(`${at}.url holds a credential: put it into headers.`);
  }
  return url;
}

function checkHeaders(at: string, headers: unknown): void {
  if (!isRecord(headers)) {
    throw new TypeError(`${at}.headers must be an object of texts, or a function.`);
  }
  for (const [name, value] of Object.entries(headers)) {
    const place = `${at}.headers[${JSON.stringify(name)}]`;
    if (typeof value !== "string") throw new TypeError(`${place} is no text.`);
    if (NOT_OURS.test(name)) throw new TypeError(`${place} is set by the protocol: remove it.`);
    try {
      new Headers({ [name]: value });
    } catch {
      // What was thrown quotes the value.
      throw new TypeError(`${place} cannot be sent as a header: its name or value is malformed.`);
    }
  }
}
