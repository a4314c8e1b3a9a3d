import { afterEach, describe, expect, test } from "vitest";
import { CredentialDesk } from "../../server/access/desk.ts";
import { newVaultKey, readVaultKeys } from "../../server/access/keys.ts";
import { fromMcpServers } from "../../server/connectors/import/portable.ts";
import { remoteMcp, type RemoteMcpOptions } from "../../server/connectors/remote/remote.ts";
import type { Connector } from "../../server/shared/contracts.ts";
import { memoryStorage } from "../../server/shared/drivers/memory.ts";
import {
  fakeServer,
  legacy,
  modern,
  type Answering,
} from "../../verify/hostile/downstream/support/http.ts";
import { failureOf, valueOf } from "../support/catalog.ts";
import { testScope } from "../support/scope.ts";
import { isAlive, started, stopAll, valueOf as answerIn } from "./stdio/started.ts";

const open: { close?(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close?.();
  await stopAll();
});

const scope = testScope();
const SECRET = "sk-correct-horse-battery-staple";
const credential = {
  fields: { token: "API token" },
  headers: ({ token }: Readonly<Record<string, string>>) => ({ "X-Api-Key": `${token}` }),
};

function deskOf(connector: Connector): CredentialDesk {
  return new CredentialDesk({
    connectors: [connector],
    storage: memoryStorage(),
    keys: readVaultKeys({ key: newVaultKey() }),
    name: "connecta",
    origin: () => undefined,
  });
}

async function remote(answering: Answering, options: Partial<RemoteMcpOptions> = {}) {
  const server = await fakeServer(answering);
  const crm = remoteMcp({ id: "crm", url: server.url, credential, ...options });
  open.push(server, crm);
  return { server, crm, desk: deskOf(crm) };
}

describe("headers of what a person handed over", () => {
  test("are sent with every request, beside those of the config", async () => {
    const { server, crm, desk } = await remote(modern(), { headers: { "X-Team": "blue" } });
    expect(failureOf(await crm.callTool("echo", {}, scope))).toMatchObject({
      code: "auth_required",
      connector: "crm",
    });
    expect(server.asked).toHaveLength(0);
    valueOf(await desk.set("crm", { token: SECRET }));
    expect((await crm.callTool("echo", {}, scope)).ok).toBe(true);
    expect(server.asked.length).toBeGreaterThan(0);
    for (const { headers } of server.asked) {
      expect([headers["x-api-key"], headers["x-team"]]).toEqual([SECRET, "blue"]);
    }
  });

  test("that a server refuses are said to be refused, once", async () => {
    const { server, crm, desk } = await remote((_, reply) => reply.status(401));
    valueOf(await desk.set("crm", { token: SECRET }));
    const failure = failureOf(await crm.callTool("echo", {}, scope));
    expect(failure).toMatchObject({
      code: "auth_required",
      message: "The server of crm does not accept its credential.",
    });
    expect(server.asked).toHaveLength(1);
    expect(failureOf(await desk.test("crm", scope)).code).toBe("auth_required");
  });

  test("of another person do not meet in the session of the former", async () => {
    let sessions = 0;
    const { server, crm, desk } = await remote(
      legacy((asked, reply) => {
        if (asked.method !== "initialize") return false;
        const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} } };
        const serverInfo = { name: "fake", version: "1" };
        reply.result({ ...result, serverInfo }, { "mcp-session-id": `session-${++sessions}` });
        return true;
      }),
      { protocol: "legacy" },
    );
    const used = () => server.asked.at(-1)?.headers["mcp-session-id"];
    valueOf(await desk.set("crm", { token: "ada" }));
    valueOf(await crm.callTool("echo", {}, scope));
    valueOf(await crm.callTool("echo", {}, scope));
    expect(used()).toBe("session-1");
    valueOf(await desk.set("crm", { token: "bob" }));
    valueOf(await crm.callTool("echo", {}, scope));
    expect(used()).toBe("session-2");
  });

  test.each(["two\nlines", "naïve 🦊"])(
    "that HTTP does not take are said to be unusable: %j",
    async (token) => {
      const reported: unknown[] = [];
      const { server, crm, desk } = await remote(modern());
      valueOf(await desk.set("crm", { token }));
      const noting = testScope({ report: (error) => reported.push(error) });
      const failure = failureOf(await crm.callTool("echo", {}, noting));
      expect(failure.message).toBe(
        "The credential of crm makes a header that cannot be sent: the operator replaces it.",
      );
      expect([server.asked.length, reported.length]).toEqual([0, 0]);
    },
  );

  test("that a server repeats in an error are taken out, however they were made", async () => {
    const { crm, desk } = await remote(
      modern((asked, reply) => {
        if (asked.method !== "tools/call") return false;
        reply.error(-32_000, `You sent ${String(asked.headers["x-api-key"])}, that is ${SECRET}.`);
        return true;
      }),
      {
        credential: { ...credential, headers: ({ token }) => ({ "X-Api-Key": btoa(`${token}`) }) },
      },
    );
    valueOf(await desk.set("crm", { token: SECRET }));
    expect(failureOf(await crm.callTool("echo", {}, scope)).message).toContain(
      "You sent [redacted], that is [redacted].",
    );
  });

  test("whoever is connected hears of another one", async () => {
    const { crm, desk } = await remote(modern());
    let changes = 0;
    crm.onToolsChanged?.(() => changes++);
    valueOf(await desk.set("crm", { token: SECRET }));
    valueOf(await desk.remove("crm"));
    expect(changes).toBe(2);
  });
});

describe("variables of what a person handed over", () => {
  const inEnvironment = {
    fields: { token: "API token" },
    env: ({ token }: Readonly<Record<string, string>>) => ({ CRM_TOKEN: `${token}` }),
  };
  const ask = async (crm: Connector) => ({
    env: answerIn(await crm.callTool("env", {}, scope)) as NodeJS.ProcessEnv,
    pid: answerIn(await crm.callTool("pid", {}, scope)),
  });

  test("are in the environment of the process, which another credential replaces", async () => {
    const crm = started({ options: { credential: inEnvironment, env: { OWN: "1" } } });
    const desk = deskOf(crm);
    expect(failureOf(await crm.listTools(scope)).code).toBe("auth_required");
    valueOf(await desk.set("crm", { token: "ada-token-0123456789" }));
    const first = await ask(crm);
    expect([first.env.CRM_TOKEN, first.env.OWN]).toEqual(["ada-token-0123456789", "1"]);
    expect((await ask(crm)).pid).toBe(first.pid);
    valueOf(await desk.set("crm", { token: "bob-token-0123456789" }));
    const second = await ask(crm);
    expect(second.env.CRM_TOKEN).toBe("bob-token-0123456789");
    expect([second.pid === first.pid, isAlive(first.pid)]).toEqual([false, false]);
  });

  test("are taken out of what the process writes for the operator", async () => {
    const crm = started({
      how: { stderr: `starting with ${SECRET}\n` },
      options: { credential: inEnvironment },
    });
    valueOf(await deskOf(crm).set("crm", { token: SECRET }));
    await crm.listTools(scope);
    expect(crm.errorOutput?.()).toContain("starting with [redacted]");
  });

  test("that a process cannot have are said to be unusable", async () => {
    const crm = started({ options: { credential: inEnvironment } });
    valueOf(await deskOf(crm).set("crm", { token: "x" }));
    const zero = started({
      options: { credential: { ...inEnvironment, env: () => ({ A: "\0" }) } },
    });
    valueOf(await deskOf(zero).set("crm", { token: "x" }));
    expect(failureOf(await zero.listTools(scope)).message).toContain("no text");
    expect((await crm.listTools(scope)).ok).toBe(true);
  });
});

describe("options that decide what a server is sent", () => {
  const url = "https://crm.example/mcp";

  test.each<[Partial<RemoteMcpOptions>, string]>([
    [{ credential, auth: "oauth" }, "both credential and auth"],
    [{ credential: { fields: { a: "A" } } as never }, "credential.headers is missing"],
    [{ auth: "oauth", headers: { authorization: "Bearer x" } }, "headers authenticates"],
    [{ auth: "none" as never }, '"oauth" or an object'],
    [{ auth: { clientID: "x" } as never }, "auth.clientID is no option"],
    [{ auth: { clientSecret: "hush-hush" } }, "clientSecret needs the clientId"],
    [{ auth: { grant: "client_credentials" } }, "needs clientId and clientSecret"],
    [{ auth: { grant: "password" as never } }, "auth.grant must be"],
    [{ auth: { scopes: "read" as never } }, "auth.scopes must be a list"],
    [{ auth: { scopes: ["a b"] } }, "auth.scopes must be a list"],
    [{ auth: { issuer: "as.example" } }, "auth.issuer is no URL"],
    [{ auth: { clientMetadataUrl: "http://x.example/c" } }, "must begin with https://"],
  ])("%j stops the start", (options, message) => {
    expect(() => remoteMcp({ id: "crm", url, ...options })).toThrow(message);
    expect(() => remoteMcp({ id: "crm", url, ...options })).not.toThrow("hush-hush");
  });
});

describe("the file of another client", () => {
  const imported = (auth: unknown) => {
    const file = { mcpServers: { crm: { url: "https://crm.example/mcp", auth } } };
    const { connectors, warnings } = fromMcpServers(JSON.stringify(file));
    return [connectors[0]?.credential?.kind, warnings.map(({ message }) => message)];
  };

  test("may say that a person authorizes a server, in the one word that is known here", () => {
    expect(imported("oauth")).toEqual(["oauth", []]);
    expect(imported({ CLIENT_ID: "x" })).toEqual([
      undefined,
      ['"crm" has "auth", which is not known here.'],
    ]);
  });
});
