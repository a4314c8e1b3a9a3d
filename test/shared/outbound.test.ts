import { describe, expect, test } from "vitest";
import {
  HostRefused,
  isAllowable,
  OutboundRules,
  platformOutbound,
  urlOf,
} from "../../server/shared/outbound.ts";
import { site } from "../support/network.ts";

/** What a request to a host is answered with, before anything is sent. */
function judged(host: string, allow: readonly string[] = []): string {
  try {
    new OutboundRules(allow).check(new URL(`http://${host}/latest/meta-data`));
  } catch (error) {
    if (error instanceof HostRefused) return `refused: ${error.host}`;
    throw error;
  }
  return "asked";
}

/** Which addresses of a name are left to connect to. */
const left = (name: string, addresses: readonly string[], allow: readonly string[] = []) =>
  new OutboundRules(allow)
    .permitted(
      name,
      addresses.map((address) => ({ address })),
    )
    .map(({ address }) => address);

describe("a host that no connector asks", () => {
  test.each([
    ["169.254.169.254", "169.254.169.254"],
    ["169.254.0.0", "169.254.0.0"],
    ["169.254.255.255", "169.254.255.255"],
    ["169.254.170.2", "169.254.170.2"],
    ["100.100.100.200", "100.100.100.200"],
    ["168.63.129.16", "168.63.129.16"],
    ["192.0.0.192", "192.0.0.192"],
    ["0.0.0.0", "0.0.0.0"],
    ["0.1.2.3", "0.1.2.3"],
    ["224.0.0.1", "224.0.0.1"],
    ["239.255.255.250", "239.255.255.250"],
    ["255.255.255.255", "255.255.255.255"],
    ["[::]", "::"],
    ["[fe80::1]", "fe80::1"],
    ["[febf:ffff::1]", "febf:ffff::1"],
    ["[ff02::fb]", "ff02::fb"],
    ["[fd00:ec2::254]", "fd00:ec2::254"],
    ["[fd00:ec2::23]", "fd00:ec2::23"],
    ["[fd20:ce::254]", "fd20:ce::254"],
    ["[fd00:c1::a9fe:a9fe]", "fd00:c1::a9fe:a9fe"],
    ["[fd00:42::42]", "fd00:42::42"],
    ["[fd00:100::100:200]", "fd00:100::100:200"],
    ["[fd00:a9fe:a9fe::1]", "fd00:a9fe:a9fe::1"],
    ["metadata.google.internal", "metadata.google.internal"],
    ["metadata.goog", "metadata.goog"],
    ["instance-data.ec2.internal", "instance-data.ec2.internal"],
  ])("is %s", (host, named) => {
    expect(judged(host)).toBe(`refused: ${named}`);
  });

  test.each([
    ["in decimal", "2852039166"],
    ["in hexadecimal", "0xa9fea9fe"],
    ["in octal", "0251.0376.0251.0376"],
    ["in several bases and few parts", "0xa9.254.43518"],
    ["with a dot at its end", "169.254.169.254."],
    ["escaped", "%31%36%39.254.169.254"],
    ["in digits of another width", "１６９．２５４．１６９．２５４"],
    ["behind the name of a user", "example.com@169.254.169.254"],
    ["with a port", "169.254.169.254:8080"],
  ])("is link-local %s", (_, host) => {
    expect(judged(host)).toBe("refused: 169.254.169.254");
  });

  test.each([
    ["mapped", "[::ffff:169.254.169.254]"],
    ["mapped, in full", "[0000:0000:0000:0000:0000:FFFF:A9FE:A9FE]"],
    ["compatible", "[::169.254.169.254]"],
    ["translated", "[::ffff:0:a9fe:a9fe]"],
    ["NAT64", "[64:ff9b::a9fe:a9fe]"],
    ["NAT64 of a network's own, after 96 bits", "[64:ff9b:1::a9fe:a9fe]"],
    ["NAT64 of a network's own, after 48 bits", "[64:ff9b:1:a9fe:a9:fe00::]"],
    ["NAT64 of a network's own, after 56 bits", "[64:ff9b:1:12a9:fe:a9fe::]"],
    ["NAT64 of a network's own, after 64 bits", "[64:ff9b:1:1234:a9:fea9:fe00:0]"],
    ["6to4", "[2002:a9fe:a9fe::1]"],
  ])("is link-local within an IPv6 address: %s", (_, host) => {
    expect(judged(host)).toMatch(/^refused: [\da-f:]+$/);
  });

  test.each([
    "METADATA.Google.Internal",
    "metadata.google.internal.",
    "metadata.google.internal..",
  ])("is a name of metadata, written %s", (host) => {
    expect(judged(host)).toBe("refused: metadata.google.internal");
  });
});

describe("a host that connectors ask", () => {
  test.each([
    "127.0.0.1",
    "localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "100.100.100.201",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[fd00:ec3::254]",
    "169.253.255.255",
    "169.255.0.0",
    "1.0.0.0",
    "223.255.255.255",
    "[fe7f::1]",
    "[fec0::1]",
    "[2001:db8::1]",
    "[64:ff9b::808:808]",
    "[64:ff9b:1::808:808]",
    "[64:ff9b:1:808:8:800::]",
    "[2002:808:808::1]",
    "example.com",
    "node1",
    "metadata",
    "metadata.google.internal.example.com",
    "169.254.169.254.example.com",
  ])("is %s", (host) => {
    expect(judged(host)).toBe("asked");
  });
});

describe("what a name leads to", () => {
  test("is connected to as far as it may be", () => {
    expect(left("a.test", ["10.0.0.1", "::1"])).toEqual(["10.0.0.1", "::1"]);
    expect(left("a.test", ["169.254.169.254", "10.0.0.1", "fe80::1%eth0"])).toEqual(["10.0.0.1"]);
    expect(left("a.test", ["::ffff:169.254.169.254", "fd00:ec2::254"])).toEqual([]);
  });

  test("and is no address at all is not connected to", () => {
    expect(left("a.test", ["nonsense", ""])).toEqual([]);
  });
});

describe("what a deployment allows", () => {
  test.each([
    ["an address", "169.254.10.20", "169.254.10.20", "169.254.10.21"],
    ["an address in another spelling", "0xa9fe0a14", "169.254.10.20", "169.254.10.21"],
    ["a range", "169.254.10.0/24", "169.254.10.255", "169.254.11.0"],
    ["a range that is written by one of its addresses", "169.254.10.77/24", "169.254.10.1", "[::]"],
    ["an IPv6 address", "fe80::1", "[fe80::1]", "[fe80::2]"],
    ["an IPv6 address in brackets", "[FE80::1]", "[fe80::1]", "[fe80::2]"],
    ["an IPv6 range", "fe80::/64", "[fe80::ffff]", "[fe80:0:0:1::1]"],
    [
      "an IPv4 address, for those within IPv6",
      "169.254.10.20",
      "[::ffff:a9fe:a14]",
      "[::ffff:0:0]",
    ],
    ["a name", "metadata.goog", "metadata.goog.", "metadata.google.internal"],
    [
      "a name in capitals with a dot",
      "Metadata.GOOG.",
      "metadata.goog",
      "metadata.google.internal",
    ],
    ["every IPv4 address", "0.0.0.0/0", "169.254.169.254", "[fe80::1]"],
  ])("is %s and no more", (_, entry, asked, refused) => {
    expect(judged(asked, [entry])).toBe("asked");
    expect(judged(refused, [entry])).toContain("refused");
  });

  test("as an address holds under every name, and as a name with every address", () => {
    const found = ["169.254.10.20", "169.254.169.254"];
    expect(left("a.test", found, ["169.254.10.20"])).toEqual(["169.254.10.20"]);
    expect(left("a.test", found, ["a.test"])).toEqual(found);
    expect(left("A.test.".toLowerCase(), found, ["A.test"])).toEqual(found);
    expect(left("b.a.test", found, ["a.test"])).toEqual([]);
  });

  test("as a safe address makes none safe that also ends at another", () => {
    expect(judged("[64:ff9b:1:a9fe:a9:fe00:a00:1]", ["10.0.0.1"])).toContain("refused");
  });

  test.each([
    "",
    "http://printer.local",
    "printer.local:80",
    "printer.local/",
    "user@printer.local",
    "*.local",
    "*",
    "169.254.0.0/33",
    "fe80::/129",
    "169.254.0.0/",
    "169.254.0.0/x",
    "printer.local/24",
    "fe80::1:zz",
    "a b",
  ])("cannot be %j", (entry) => {
    expect(isAllowable(entry)).toBe(false);
  });

  test.each(["printer.local", "printer", "169.254.1.2", "169.254.0.0/16", "fe80::1", "fe80::/10"])(
    "can be %j",
    (entry) => {
      expect(isAllowable(entry)).toBe(true);
    },
  );
});

describe("the fetch of a platform that shows no addresses", () => {
  test("refuses by what is written, in whichever form, and sends everything else", async () => {
    const here = await site({});
    const { fetch } = platformOutbound(new OutboundRules());
    const at = (host: string) => `http://${host}:${here.port}/`;
    const refused = [at("0.0.0.0"), new URL(at("0.0.0.0")), new Request(at("0.0.0.0"))];
    for (const form of refused) await expect(fetch(form)).rejects.toBeInstanceOf(HostRefused);
    expect(here.seen).toEqual([]);
    const { fetch: without } = platformOutbound(new OutboundRules(["0.0.0.0"]));
    for (const form of [...refused, at("127.0.0.1")])
      expect((await without(form)).status).toBe(200);
    expect(here.seen).toHaveLength(4);
    await here.close();
  });

  test("hands on a redirect as the answer that it is", async () => {
    const here = await site({
      "/moved": (_, response) => void response.writeHead(302, { location: "/target" }).end(),
    });
    const url = `http://127.0.0.1:${here.port}/moved`;
    expect((await platformOutbound(new OutboundRules()).fetch(url)).status).toBe(302);
    expect(here.seen).toEqual(["GET 127.0.0.1/moved"]);
    expect((await fetch(url)).status).toBe(200);
    expect(here.seen).toContain("GET 127.0.0.1/target");
    await here.close();
  });

  test("is given every form of a request", () => {
    const url = "http://example.com/a";
    for (const form of [url, new URL(url), new Request(url)]) expect(urlOf(form).href).toBe(url);
  });
});

test("a refusal names the host and the option, and nothing else of the request", () => {
  expect(new HostRefused("[fe80::1]").told("crm")).toBe(
    "crm may not ask fe80::1, which is or leads to a link-local, metadata or reserved address. " +
      'The operator can allow it: outbound: { allow: ["fe80::1"] }.',
  );
});
