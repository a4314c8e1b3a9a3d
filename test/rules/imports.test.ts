import { describe, expect, test } from "vitest";
import { importsOf, isNodeOnly, reaches } from "./graph.ts";
import { violation } from "./rooms.ts";
import { CODE, sources, type Source } from "./tree.ts";

const files = sources(CODE);
const violations = (all: readonly Source[]) =>
  all.flatMap((file) => importsOf(file).flatMap((found) => violation(found) ?? []));

/** What the checker says of one import in a file at this place. */
function said(path: string, statement: string): string {
  return violations([{ path, text: statement }]).join("; ");
}

describe("imports point down", () => {
  test("no file of the repository breaks the table of rooms", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(violations(files)).toEqual([]);
  });

  test("an import that points up is caught, with the file and the import named", () => {
    expect(said("server/catalog/fresh.ts", 'import { a } from "../tools/list.ts";')).toBe(
      "server/catalog/fresh.ts imports ../tools/list.ts: catalog (1) lies below tools (4)",
    );
  });

  test("an import between rooms of equal height is caught", () => {
    expect(said("server/access/who.ts", 'import { a } from "../view/page.ts";')).toContain(
      "strangers",
    );
  });

  test.each([
    ["a type", 'import type { A } from "../http/gate.ts";'],
    ["a re-export", 'export * from "../http/gate.ts";'],
    ["a dynamic import", 'const gate = await import("../http/gate.ts");'],
    ["an import type", 'type Gate = import("../http/gate.ts").Gate;'],
    ["code that travels", 'import source from "../http/gate.ts?travel";'],
  ])("%s counts as an import", (_, statement) => {
    expect(said("server/invoke/one.ts", statement)).toContain("invoke (2) lies below http (5)");
  });

  test("words in a comment or a string are no import", () => {
    expect(
      said(
        "server/invoke/one.ts",
        '// import "../http/gate.ts"\nconst a = "import(\'../http/a.ts\')";',
      ),
    ).toBe("");
  });

  test("a room that the table does not name is caught", () => {
    expect(said("server/misc/a.ts", 'import { a } from "../shared/a.ts";')).toContain("no room");
  });

  test.each([
    ["server/tools/one.ts", "../connectors/api.ts"],
    ["server/programs/run.ts", "../sandbox/pool.ts"],
    ["server/http/gate.ts", "../access/providers/bearer.ts"],
    ["server/catalog/keep.ts", "../shared/drivers/file.ts"],
  ])("%s may not import what an entry injects: %s", (path, specifier) => {
    expect(said(path, `import { a } from "${specifier}";`)).toContain("an entry injects this");
  });

  test.each([
    ["server/index.ts", "./connectors/api.ts"],
    ["server/node/listen.ts", "../sandbox/pool.ts"],
    ["server/node/listen.ts", "../index.ts"],
    ["server/tools/one.ts", "../shared/failure.ts"],
  ])("%s may import %s", (path, specifier) => {
    expect(said(path, `import { a } from "${specifier}";`)).toBe("");
  });
});

describe("the houses beside the server", () => {
  test("the shell sees the protocol and nothing else of the server", () => {
    expect(said("shell/src/main.ts", 'import { a } from "../../server/view/protocol.ts";')).toBe(
      "",
    );
    expect(said("shell/src/main.ts", 'import { a } from "../../server/view/page.ts";')).toBe(
      "shell/src/main.ts imports ../../server/view/page.ts: shell/ may not see it",
    );
  });

  test("the checks and examples see the server through its entries", () => {
    expect(said("verify/view.test.ts", 'import { a } from "../server/invoke/one.ts";')).toContain(
      "may not",
    );
    expect(said("examples/node/a.mjs", 'import { a } from "../../server/http/gate.ts";')).toContain(
      "may not",
    );
    expect(said("examples/node/a.mjs", 'import { api } from "connecta";')).toBe("");
    expect(
      said("verify/host/src/main.ts", 'import { a } from "../../../server/view/protocol.ts";'),
    ).toBe("");
  });
});

describe("the portable core", () => {
  test("nothing that server/index.ts reaches needs Node", () => {
    expect(reaches(files, "server/index.ts", isNodeOnly)).toEqual([]);
  });

  test("nothing that the shell's bundle reaches needs Node", () => {
    expect(reaches(files, "shell/src/main.ts", isNodeOnly)).toEqual([]);
  });

  test("the entries whose reach is checked exist", () => {
    const paths = new Set(files.map(({ path }) => path));
    expect(["server/index.ts", "shell/src/main.ts"].filter((path) => !paths.has(path))).toEqual([]);
  });

  test.each(["node:fs", "fs", "node:child_process", "@hono/node-server"])(
    "%s behind two other modules is caught, with the way to it",
    (specifier) => {
      const chain = [
        { path: "server/index.ts", text: 'export * from "./http/app.ts";' },
        { path: "server/http/app.ts", text: 'import { a } from "../shared/a.ts";' },
        { path: "server/shared/a.ts", text: `import { b } from "${specifier}";` },
      ];
      expect(reaches(chain, "server/index.ts", isNodeOnly)).toEqual([
        { through: ["server/index.ts", "server/http/app.ts", "server/shared/a.ts"], specifier },
      ]);
    },
  );
});

describe("what runs before packages are installed", () => {
  const needsPackages = (specifier: string) =>
    !specifier.startsWith("node:") && !specifier.startsWith(".");

  test("ensure needs nothing but Node, except the browser it looks for after the install", () => {
    expect(reaches(files, "scripts/ensure.mjs", needsPackages)).toEqual([
      {
        through: ["scripts/ensure.mjs", "scripts/ensure/main.mjs", "scripts/ensure/browser.mjs"],
        specifier: "playwright",
      },
    ]);
  });

  test("a package that ensure would need is caught", () => {
    const needy = [{ path: "scripts/ensure.mjs", text: 'import { build } from "vite";' }];
    expect(reaches(needy, "scripts/ensure.mjs", needsPackages)).toHaveLength(1);
  });
});
