import { HTTP, leave, nested, NOTHING, OWN, row, run, TCP, TLS, type Vector } from "../vector.ts";

const VIEW = { needs: "view" } as const;
const TAB = { needs: "tab" } as const;
const LEAVES = { ...VIEW, tells: true } as const;
/** Firefox holds a frame back before it looks up a name. */
const HELD = { leaks: NOTHING } as const;
const GONE = { ...VIEW, firefox: HELD } as const;

const FRAMES: readonly Vector[] = [
  ...row(
    "Nested frames by address",
    HTTP,
    {
      iframe: (to) => `<iframe src="${to.http}"></iframe>`,
      "location of a nested frame": (to) => nested(`<script>location = "${to.http}"</script>`),
    },
    { leaks: TCP, firefox: HELD },
  ),
  ...row(
    "Nested frames by address",
    TLS,
    { "iframe over TLS": (to) => `<iframe src="${to.https}"></iframe>` },
    { leaks: TLS, firefox: HELD },
  ),
  ...row(
    "Nested frames by address",
    HTTP,
    { frame: (to) => `<frameset><frame src="${to.http}"></frameset>` },
    { ...VIEW, leaks: TCP, firefox: HELD },
  ),
  ...row("Nested frames by srcdoc", HTTP, {
    "picture in it": (to) => nested(`<img src="${to.http}">`),
    "fetch() in it": (to) => nested(run((inner) => fetch(inner.http))(to)),
    "script in it": (to) => nested(`<script src="${to.http}a.js"></script>`),
    "frame of a frame": (to) => nested(nested(`<img src="${to.http}">`)),
  }),
  ...row(
    "Nested frames by srcdoc",
    HTTP,
    {
      "location of the shell from it": (to) =>
        nested(`<script>parent.parent.location = "${to.http}"</script>`),
    },
    VIEW,
  ),
  ...row(
    "Nested frames by srcdoc",
    HTTP,
    {
      "location of the host from it": (to) =>
        nested(`<script>top.location = "${to.http}"</script>`),
    },
    TAB,
  ),
];

/** Each way to give its own frame another address. */
const LEAVING: readonly Vector[] = [
  ...row(
    "Location of itself",
    HTTP,
    {
      location: leave((to) => {
        location.href = to.http;
      }),
      "location.replace()": leave((to) => location.replace(to.http)),
      "window.open() in its own frame": leave((to) => window.open(to.http, "_self")),
      "navigation.navigate()": leave((to) => {
        type Navigation = { navigate(url: string): void };
        (window as unknown as { navigation: Navigation }).navigation.navigate(to.http);
      }),
    },
    { ...GONE, ...LEAVES, leaks: TCP },
  ),
  ...row(
    "Location of itself",
    TLS,
    {
      "location over TLS": leave((to) => {
        location.href = to.https;
      }),
    },
    { ...LEAVES, leaks: TLS, firefox: HELD },
  ),
  ...row(
    "Refresh by meta",
    HTTP,
    { "meta refresh": (to) => `<meta http-equiv="refresh" content="0;url=${to.http}">` },
    { ...GONE, leaks: TCP },
  ),
  ...row(
    "Location of the parent",
    HTTP,
    {
      "parent.location": leave((to) => {
        parent.location.href = to.http;
      }),
      "window.open() in the parent": leave((to) => window.open(to.http, "_parent")),
    },
    LEAVES,
  ),
  ...row(
    "Location of the top",
    HTTP,
    {
      "top.location": leave((to) => {
        if (top) top.location.href = to.http;
      }),
      "window.open() in the top": leave((to) => window.open(to.http, "_top")),
    },
    { ...TAB, tells: true },
  ),
  ...row(
    "Base address",
    HTTP,
    { "picture below another base": (to) => `<base href="${to.http}"><img src="a">` },
    VIEW,
  ),
  ...row(
    "Base address",
    HTTP,
    {
      "location below another base": (to) =>
        `<base href="${to.http}">${leave(() => {
          location.href = "a";
        })(to)}`,
    },
    { ...LEAVES, other: TCP, firefox: HELD },
  ),
];

const HISTORY: readonly Vector[] = [
  ...row(
    "History",
    OWN,
    { "history.back()": leave(() => history.back()) },
    {
      ...TAB,
      tells: true,
      before: true,
      firefox: { leaks: OWN, chance: true },
      effect: "the tab goes back",
    },
  ),
  ...row(
    "History",
    OWN,
    {
      "loading itself again under another address": run((to) => {
        history.pushState(null, "", to.own);
        location.reload();
      }),
    },
    { ...TAB, page: true },
  ),
];

const DOCUMENTS: readonly Vector[] = [
  ...row(
    "javascript:, data: and blob: addresses",
    HTTP,
    {
      "javascript: link": (to) =>
        `<a id="j" href="javascript:void fetch('${to.http}')">a</a><script>j.click()</script>`,
      "javascript: frame": (to) => `<iframe src="javascript:void fetch('${to.http}')"></iframe>`,
      "data: frame": (to) => `<iframe src="data:text/html,<img src=${to.http}>"></iframe>`,
      "blob: frame": run((to) => {
        const page = new Blob([`<img src=${to.http}>`], { type: "text/html" });
        const frame = document.createElement("iframe");
        frame.src = URL.createObjectURL(page);
        document.documentElement.append(frame);
      }),
    },
    VIEW,
  ),
  ...row(
    "javascript:, data: and blob: addresses",
    HTTP,
    {
      "javascript: location": leave((to) => {
        location.href = `javascript:void fetch(${JSON.stringify(to.http)})`;
      }),
      "data: location": leave((to) => {
        location.href = `data:text/html,<img src=${to.http}>`;
      }),
      "blob: location": leave((to) => {
        const page = new Blob([`<img src=${to.http}>`], { type: "text/html" });
        location.href = URL.createObjectURL(page);
      }),
    },
    LEAVES,
  ),
  ...row(
    "javascript:, data: and blob: addresses",
    HTTP,
    {
      "data: link": leave((to) => {
        const link = document.createElement("a");
        link.href = `data:text/html,<img src=${to.http}>`;
        document.body.append(link);
        link.click();
      }),
    },
    // Firefox loses one such click in ten where nothing holds it, so it is no control there.
    { ...LEAVES, firefox: { lands: NOTHING } },
  ),
  ...row(
    "document.open() and write()",
    HTTP,
    {
      "write() while it loads": (to) => `<script>document.write('<img src="${to.http}">')</script>`,
      "open() after it has loaded": run((to) => {
        addEventListener("load", () => {
          document.open();
          document.write(`<!doctype html><meta charset="utf-8"><img src="${to.http}">`);
          document.close();
        });
      }),
      "write() into a nested frame": (to) =>
        `<iframe id="n"></iframe><script>n.contentDocument.write('<img src="${to.http}">')</script>`,
    },
    VIEW,
  ),
];

/** Every way to another document that needs no person. */
export const NAVIGATION: readonly Vector[] = [...FRAMES, ...LEAVING, ...HISTORY, ...DOCUMENTS];
