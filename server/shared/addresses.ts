/** Addresses whose first bits are the same; of a single address all of them. */
export interface Range {
  readonly width: 32 | 128;
  readonly bits: number;
  readonly value: bigint;
}

/** Link-local, cloud metadata, unspecified, and what is no single machine. */
const UNSAFE = rangesOf(
  "0.0.0.0/8", // this machine, by another name
  "169.254.0.0/16",
  "100.100.100.200", // Alibaba Cloud
  "168.63.129.16", // Azure
  "192.0.0.192", // Oracle Cloud
  "224.0.0.0/4",
  "255.255.255.255",
  "::",
  "fe80::/10",
  "ff00::/8",
  "fd00:ec2::/32", // AWS
  "fd20:ce::254", // Google Cloud
  "fd00:c1::a9fe:a9fe", // Oracle Cloud
  "fd00:42::42", // Scaleway
  "fd00:100::100:200", // Alibaba Cloud
  "fd00:a9fe:a9fe::1", // Akamai
);

/** Prefixes before the IPv4 address that a packet ends at: mapped, translated, NAT64, compatible. */
const TRANSLATED = rangesOf("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "::/96");
/** NAT64 of a network's own, with the IPv4 address in one of four places. */
const TRANSLATED_LOCALLY = rangesOf("64:ff9b:1::/48");
const TUNNELLED = rangesOf("2002::/16");
const LOOPBACK = 1n;
const IPV4 = 0xffff_ffffn;

/**
 * Reads an address, or a range such as `169.254.10.0/24`, in any spelling that a URL takes.
 * @returns `undefined` for a host name and for what is neither
 */
export function readRange(text: string): Range | undefined {
  const [, address = "", length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const read = readAddress(address);
  if (read === undefined || length === undefined) return read;
  return Number(length) > read.width ? undefined : { ...read, bits: Number(length) };
}

/**
 * Whether an address, or an IPv4 address that packets to it end at, is none for a connector.
 * @param allowed ranges that are taken for safe
 */
export function isUnsafe(address: Range, allowed: readonly Range[]): boolean {
  if (isWithin(address, allowed)) return false;
  return [address, ...embedded(address)].some(
    (form) => isWithin(form, UNSAFE) && !isWithin(form, allowed),
  );
}

/**
 * A host as URLs have it: lower case, digits as digits, IPv6 in brackets, no dot at the end.
 * @returns `undefined` for what is no host alone
 */
export function canonicalHost(host: string): string | undefined {
  if (!/^(?:\[[\da-f:.]+\]|[^\s/?#@\\:*[\]]+)$/i.test(host)) return undefined;
  const url = `http://${host}/`;
  return URL.canParse(url) ? withoutDot(new URL(url).hostname) : undefined;
}

/** A host name without the dot that some end it with. */
export function withoutDot(hostname: string): string {
  return hostname.replace(/\.+$/, "");
}

function isWithin(address: Range, ranges: readonly Range[]): boolean {
  return ranges.some(({ width, bits, value }) => {
    const rest = BigInt(width - bits);
    return width === address.width && value >> rest === address.value >> rest;
  });
}

function readAddress(text: string): Range | undefined {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  // What follows a percent sign says on which link an address is, not which one it is.
  const host = canonicalHost(bare.includes(":") ? `[${bare.replace(/%.*$/, "")}]` : bare);
  if (host?.startsWith("[")) return ipv6(host.slice(1, -1));
  return host !== undefined && /^\d+(?:\.\d+){3}$/.test(host) ? ipv4(dotted(host)) : undefined;
}

function ipv4(value: bigint): Range {
  return { width: 32, bits: 32, value };
}

function dotted(text: string): bigint {
  return text.split(".").reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

/** Reads eight groups of hex digits, of which some zeros may be left out. */
function ipv6(text: string): Range {
  const [head = [], tail = []] = text
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  const groups = [...head, ...zeros, ...tail];
  const value = groups.reduce((all, group) => (all << 16n) | BigInt(`0x${group}`), 0n);
  return { width: 128, bits: 128, value };
}

/** The IPv4 addresses that packets to an IPv6 address may end at. */
function embedded(address: Range): readonly Range[] {
  const { width, value } = address;
  if (width === 32 || value === LOOPBACK) return [];
  if (isWithin(address, TRANSLATED)) return [ipv4(value & IPV4)];
  if (isWithin(address, TUNNELLED)) return [ipv4((value >> 80n) & IPV4)];
  if (!isWithin(address, TRANSLATED_LOCALLY)) return [];
  // The octet in the middle is no part of any address; places that are not used hold zeros.
  const joined = ((value >> 64n) << 56n) | (value & 0xff_ffff_ffff_ffffn);
  const places = [value, joined >> 40n, joined >> 32n, joined >> 24n];
  return places.map((place) => ipv4(place & IPV4)).filter((place) => place.value >> 24n !== 0n);
}

function rangesOf(...texts: readonly string[]): readonly Range[] {
  return texts.flatMap((text) => readRange(text) ?? []);
}
