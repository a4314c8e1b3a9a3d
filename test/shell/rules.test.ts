// @vitest-environment node
import { Visitor, type ESTree } from "vite";
import { describe, expect, test } from "vitest";
import { lineAt, parse, sources, type Source } from "../rules/tree.ts";

/** What the page must not touch, by the name that code needs to touch it, and why not. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  ...named("hosts put the page at any address or at none", "location baseURI documentURI referrer"),
  ...named("storage throws in most hosts", "localStorage sessionStorage indexedDB caches"),
  ...named("storage throws in most hosts", "cookie cookieStore"),
  ...named("text of others must stay text", "innerHTML outerHTML insertAdjacentHTML setHTML"),
  ...named("text of others must stay text", "setHTMLUnsafe parseHTMLUnsafe DOMParser writeln"),
  ...named("text of others must stay text", "createContextualFragment execCommand"),
  ...named("nothing is told to the host's log", "console sendLog reportError"),
  ...named("nothing is told to the host's log", "notifications/message"),
  ...named("code is never made of text", "eval Function AsyncFunction importScripts"),
  ...named("there is no network", "fetch XMLHttpRequest WebSocket EventSource sendBeacon"),
  ...named("there is no network", "WebTransport RTCPeerConnection Worker SharedWorker"),
};

/** Places that need one of these after all, as `path name`, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "shell/src/prelude.ts location": "runs in the inner document and scrolls it to a fragment",
};

function named(reason: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(" ").map((name) => [name, reason]));
}

/** Where a file names what it must not touch, as `path:line name`. */
function offences(source: Source): readonly string[] {
  const found: string[] = [];
  const look = (name: unknown, start: number): void => {
    const known = typeof name === "string" && Object.hasOwn(FORBIDDEN, name);
    if (!known || Object.hasOwn(EXCEPTIONS, `${source.path} ${name}`)) return;
    found.push(`${source.path}:${lineAt(source.text, start)} ${name}`);
  };
  new Visitor({
    Identifier: ({ name, start }) => look(name, start),
    Literal: ({ value, start }) => look(value, start),
    TemplateElement: ({ value, start }) => look(value.cooked, start),
    MemberExpression({ object, property, start }) {
      const writes = property.type === "Identifier" && property.name === "write";
      if (writes && object.type === "Identifier") look("writeln", start);
    },
  }).visit(parse(source).program);
  return [...new Set(found)];
}

/** What a file asks of `App`, which speaks to the host; another name for it would hide something. */
function appMembers(source: Source): readonly string[] {
  const found: string[] = [];
  new Visitor({
    MemberExpression({ object, property }) {
      if (!isApp(object)) return;
      found.push(property.type === "Identifier" ? property.name : "something computed");
    },
    VariableDeclarator({ id, init }) {
      const renamed = id.type !== "Identifier" || id.name !== "app";
      if (init && isApp(init) && renamed) found.push("another name");
    },
  }).visit(parse(source).program);
  return found;
}

function isApp(node: ESTree.Node): boolean {
  if (node.type === "Identifier") return node.name === "app";
  const { property } = node as { property?: ESTree.Node };
  return property?.type === "PrivateIdentifier" && property.name === "app";
}

const files = sources(/^shell\/src\/.*\.ts$/);
const line = (text: string): Source => ({ path: "shell/src/a.ts", text });

describe("the shell", () => {
  test("touches no address, storage, markup, console, network or compiler", () => {
    expect(files.length).toBeGreaterThan(15);
    expect(files.flatMap(offences)).toEqual([]);
  });

  test.each([
    ["an address", "if (location.hash) go();", "location"],
    ["an address of the window", "window.location.reload();", "location"],
    ["an address by another name", 'const { ["location"]: place } = window;', "location"],
    ["the address of a document", "const { referrer } = document;", "referrer"],
    ["storage", "const kept = localStorage.kept;", "localStorage"],
    ["a cookie", "document.cookie = text;", "cookie"],
    ["markup", "line.innerHTML = text;", "innerHTML"],
    ["markup by a computed name", 'line["outerHTML"] = text;', "outerHTML"],
    ["markup by a template", "line[`innerHTML`] = text;", "innerHTML"],
    ["markup beside it", 'line.insertAdjacentHTML("beforeend", text);', "insertAdjacentHTML"],
    ["markup of several things", "Object.assign(line, { innerHTML: text });", "innerHTML"],
    ["a written document", "document.write(text);", "writeln"],
    ["a written page", "page.writeln(text);", "writeln"],
    ["the console", 'console.debug("seen", text);', "console"],
    ["the host's log", 'app.sendLog({ level: "info", data: text });', "sendLog"],
    [
      "the host's log by hand",
      'send({ method: "notifications/message" });',
      "notifications/message",
    ],
    ["a request", 'await fetch("/" + text);', "fetch"],
    ["a compiler", "new Function(text)();", "Function"],
  ])("would be caught touching %s", (_, text, name) => {
    expect(offences(line(`\n${text}`))).toEqual([`shell/src/a.ts:2 ${name}`]);
  });

  test("may have such words in a comment or a sentence", () => {
    const text = `// No innerHTML and no location here.\nconst words = "see the console";`;
    expect(offences(line(text))).toEqual([]);
  });

  test("has no exception that nothing needs", () => {
    const needed = Object.keys(EXCEPTIONS).filter((key) => {
      const [path = "", name = ""] = key.split(" ");
      const text = files.find((file) => file.path === path)?.text ?? "";
      return offences({ path: "shell/src/a.ts", text }).some((found) => found.endsWith(` ${name}`));
    });
    expect(needed).toEqual(Object.keys(EXCEPTIONS));
  });

  test("puts text of others into a document in one place, the frame of the view", () => {
    const places = files.filter(({ text }) => /\bsrcdoc\b/.test(text)).map(({ path }) => path);
    expect(places).toEqual(["shell/src/frame.ts"]);
  });
});

describe("V5: what the shell asks of the host", () => {
  test("is a size, a display mode and one tool call, and nothing that speaks to the model", () => {
    expect([...new Set(files.flatMap(appMembers))].toSorted()).toEqual([
      "addEventListener",
      "callServerTool",
      "connect",
      "getHostCapabilities",
      "getHostContext",
      "onteardown",
      "requestDisplayMode",
      "sendSizeChanged",
    ]);
  });

  test("is seen through each name that App has there", () => {
    expect(appMembers(line("app.sendMessage({}); this.#app.openLink({});"))).toEqual([
      "sendMessage",
      "openLink",
    ]);
    expect(appMembers(line('app["open" + "Link"]({});'))).toEqual(["something computed"]);
    for (const text of ["const { openLink } = this.#app;", "const host = app;"]) {
      expect(appMembers(line(text))).toEqual(["another name"]);
    }
  });
});
