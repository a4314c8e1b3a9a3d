import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import type { RemoteMcpOptions } from "../../../server/index.ts";
import { answering, attacked as attack, closeAll } from "./support/attacked.ts";
import { deferred } from "./support/deferred.ts";
import { legacy, modern, type Answering } from "./support/http.ts";

afterEach(closeAll);

/** A gateway before a server that answers calls like this. */
const attacked = (
  answer: Answering,
  options: Partial<RemoteMcpOptions> = {},
  generation = modern,
) => attack(answering(generation, "tools/call", answer), options);

const JSON_TYPE = { "content-type": "application/json" };
const EVENTS_TYPE = { "content-type": "text/event-stream" };
const LIMIT = { maxResponseBytes: 1_000_000 };
const answerOf = (id: unknown, text: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: { resultType: "complete", content: [{ type: "text", text }] },
  });

describe("an answer without an end", () => {
  test.each([
    ["JSON", JSON_TYPE, '{"jsonrpc":"2.0","result":"', "x".repeat(65_536)],
    ["one event", EVENTS_TYPE, "data: ", "x".repeat(65_536)],
    ["comments", EVENTS_TYPE, "", `: ${"x".repeat(65_536)}\n`],
  ])("as %s is broken off at the bound", async (_, headers, head, part) => {
    const letGo = deferred();
    let sent = 0;
    const { front } = await attacked((asked, { raw }) => {
      void asked.gone.then(() => letGo.resolve());
      raw.writeHead(200, headers);
      raw.write(head);
      const more = () => {
        while (!raw.destroyed && raw.write(part)) sent += part.length;
        raw.once("drain", more);
      };
      more();
    }, LIMIT);
    expect(await front.codeOf("crm.echo")).toBe("result_too_large");
    await letGo.promise;
    // What the sockets hold between us comes on top.
    expect(sent).toBeLessThan(20_000_000);
  });

  test.each(["data: {}\n\n", "data:{}\r\n\r\n", "data:{}\r\r", "\n\n"])(
    "as a flood of events like %j is broken off long before the bound",
    async (event) => {
      const { front } = await attacked((_, { raw }) => {
        raw.writeHead(200, EVENTS_TYPE);
        raw.end(event.repeat(200_000));
      });
      expect(await front.codeOf("crm.echo")).toBe("result_too_large");
    },
  );

  test("control: as many events as one call may have end with its answer", async () => {
    const { front } = await attacked(({ id }, { raw }) => {
      raw.writeHead(200, EVENTS_TYPE);
      const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}';
      raw.end(`${`data: ${progress}\n\n`.repeat(5_000)}data: ${answerOf(id, "done")}\n\n`);
    });
    expect(await front.codeOf("crm.echo")).toBe("ok");
  });

  test("as a long list of messages is not even read", async () => {
    const note = '{"jsonrpc":"2.0","method":"notifications/message","params":{}}';
    const { front } = await attacked(({ id }, reply) => {
      reply.status(200, JSON_TYPE, ` \n[${`${note},`.repeat(100_000)}${answerOf(id, "a")}]`);
    });
    expect(await front.codeOf("crm.echo")).toBe("connector_call_failed");
  });

  test("control: the same amount within the bound is an answer", async () => {
    const { front } = await attacked(({ id }, reply) => {
      reply.status(200, JSON_TYPE, answerOf(id, "x".repeat(900_000)));
    }, LIMIT);
    expect(await front.codeOf("crm.echo")).toBe("ok");
  });
});

describe("a compressed answer", () => {
  const bomb = gzipSync(Buffer.alloc(200_000_000, " "));

  test("that unpacks to much more than it is, is broken off at the bound", async () => {
    const { front } = await attacked((_, { raw }) => {
      raw.writeHead(200, { ...JSON_TYPE, "content-encoding": "gzip" });
      raw.end(bomb);
    }, LIMIT);
    expect(await front.codeOf("crm.echo")).toBe("result_too_large");
  });

  test("control: it is below the bound as it is sent, and far above it unpacked", () => {
    expect(bomb.length).toBeLessThan(LIMIT.maxResponseBytes);
    expect(gunzipSync(bomb).length).toBe(200_000_000);
  });

  test("control: a compressed answer of the usual kind is read", async () => {
    const { front } = await attacked(({ id }, { raw }) => {
      raw.writeHead(200, { ...JSON_TYPE, "content-encoding": "gzip" });
      raw.end(gzipSync(answerOf(id, "small")));
    }, LIMIT);
    expect(await front.codeOf("crm.echo")).toBe("ok");
  });
});

describe("an answer that does not come", () => {
  test.each([
    ["never begins", () => undefined],
    ["stops after its headers", (_, { raw }) => raw.writeHead(200, JSON_TYPE).flushHeaders()],
    [
      "drips byte by byte",
      (asked, { raw }) => {
        raw.writeHead(200, JSON_TYPE);
        const drip = setInterval(() => raw.write(" "), 5);
        void asked.gone.then(() => clearInterval(drip));
      },
    ],
    [
      "drips as comments of a stream",
      (asked, { raw }) => {
        raw.writeHead(200, EVENTS_TYPE);
        const drip = setInterval(() => raw.write(": still here\n\n"), 5);
        void asked.gone.then(() => clearInterval(drip));
      },
    ],
  ] satisfies [string, Answering][])("and %s ends with the call's deadline", async (_, answer) => {
    const letGo = deferred();
    const { front } = await attacked((asked, reply) => {
      void asked.gone.then(() => letGo.resolve());
      answer(asked, reply);
    });
    await front.call("search_tools");
    expect(await front.codeOf("crm.echo", {}, { timeoutMs: 200 })).toBe("timeout");
    await letGo.promise;
  });

  test("control: what drips and then ends is an answer", async () => {
    const { front } = await attacked(({ id }, { raw }) => {
      raw.writeHead(200, JSON_TYPE);
      const bytes = [...answerOf(id, "slow")];
      const drip = setInterval(() => {
        const next = bytes.shift();
        if (next === undefined) clearInterval(drip);
        raw[next === undefined ? "end" : "write"](next ?? "");
      }, 1);
    });
    expect(await front.codeOf("crm.echo")).toBe("ok");
  });

  test.each([
    ["JSON", modern, JSON_TYPE, '{"jsonrpc":"2.0","id":1,"resu'],
    ["a stream", modern, EVENTS_TYPE, 'data: {"jsonrpc":"2.0","id":'],
    ["JSON of the older generation", legacy, JSON_TYPE, '{"jsonrpc":'],
    ["a stream of the older generation", legacy, EVENTS_TYPE, "data: {}"],
  ])("and is cut off within %s is unavailable at once", async (_, generation, headers, half) => {
    const { front } = await attacked(
      (_asked, { raw }) => {
        raw.writeHead(200, headers);
        raw.write(half, () => raw.destroy());
      },
      {},
      generation,
    );
    expect(await front.codeOf("crm.echo")).toBe("unavailable");
  });

  test("and whose stream ends without it is unavailable at once", async () => {
    const { front } = await attacked((_, reply) => reply.events({ jsonrpc: "2.0", method: "a" }));
    expect(await front.codeOf("crm.echo")).toBe("unavailable");
  });
});

describe("an answer that is none", () => {
  test.each<[string, Answering]>([
    ["no JSON", (_, reply) => reply.status(200, JSON_TYPE, "{oops")],
    ["nothing", (_, reply) => reply.status(200, JSON_TYPE)],
    ["no message", (_, reply) => reply.status(200, JSON_TYPE, '{"result":{}}')],
    ["a list of nothing", (_, reply) => reply.status(200, JSON_TYPE, "[]")],
    ["only accepted", (_, reply) => reply.status(202)],
    ["HTML", (_, reply) => reply.status(200, { "content-type": "text/html" }, "<h1>Hi</h1>")],
    ["without a type", (_, reply) => reply.status(200, {}, "{}")],
    [
      "for another id",
      ({ id }, reply) => reply.status(200, JSON_TYPE, answerOf(Number(id) + 1, "a")),
    ],
    ["a result that is no object", (_, reply) => reply.result([1])],
    [
      "a request",
      (_, reply) => reply.status(200, JSON_TYPE, '{"jsonrpc":"2.0","id":1,"method":"m"}'),
    ],
    ["nothing, 204", (_, reply) => reply.status(204)],
  ])("(%s) fails the call at once, and the next one works", async (_, answer) => {
    let calls = 0;
    const { front } = await attacked((asked, reply) => {
      if (++calls === 1) answer(asked, reply);
      else reply.result({ resultType: "complete", content: [] });
    });
    expect(await front.codeOf("crm.echo")).toBe("connector_call_failed");
    expect(await front.codeOf("crm.echo")).toBe("ok");
  });
});
