import { DNS, HTTP, leave, nested, NOTHING, row, TCP, TLS, type Vector } from "../vector.ts";
import type { Target } from "../witness.ts";

const LEAVES = { needs: "view", tells: true } as const;
const LEAVES_TAB = { needs: "tab", tells: true } as const;
const TAB = { needs: "tab" } as const;
const EVERYWHERE = "position:fixed;inset:0;width:100%;height:100%;border:0;background:silver";

/** A link over the whole view, where a person would click. */
const link = (url: string) => `<a href="${url}" style="${EVERYWHERE}">a link</a>`;

/** The same where no script of ours can see it. */
const hiddenLink = (url: string) =>
  `<div style="${EVERYWHERE}"><template shadowrootmode="closed">${link(url)}</template></div>`;

/** The same in a document of its own, which holds nothing of ours. */
const framedLink = (url: string) => {
  const tell = `<script>onmousemove = () => parent.postMessage("pointed", "*");
    onmousedown = () => parent.postMessage("acted", "*")</script>`;
  return nested(link(url) + tell, EVERYWHERE);
};

const disarmed = (url: string) =>
  `<script>Event.prototype.preventDefault = () => {}</script>${link(url)}`;

const leaving = (script: string) => `<script>say("ran").finally(() => { ${script} })</script>`;

function form(target: string) {
  return (to: Target) =>
    `<form id="f" method="post" action="${to.http}" target="${target}"><input name="a"></form>` +
    leaving("f.submit()");
}

function clicked(attributes: string) {
  return (to: Target) => `<a id="l" href="${to.http}" ${attributes}>a</a>${leaving("l.click()")}`;
}

/** What a script does with them by itself. */
const SCRIPTED: readonly Vector[] = [
  ...row("Forms", HTTP, { post: form("") }, LEAVES),
  ...row(
    "Forms",
    HTTP,
    { "post to a new tab": form("_blank"), "post to the top": form("_top") },
    LEAVES_TAB,
  ),
  // Firefox looks up the name of any link that it sees.
  ...row(
    "Links with a target",
    HTTP,
    { "no target": clicked(""), parent: clicked(`target="_parent"`) },
    { ...LEAVES, firefox: { leaks: DNS } },
  ),
  ...row(
    "Links with a target",
    HTTP,
    { "new tab": clicked(`target="_blank"`), top: clicked(`target="_top"`) },
    { ...LEAVES_TAB, firefox: { leaks: DNS } },
  ),
  ...row(
    "Links in a closed shadow tree",
    HTTP,
    {
      "clicked by a script": (to) =>
        `<div id="d"></div>${leaving(`const root = d.attachShadow({ mode: "closed" });
          root.innerHTML = '<a href="${to.http}">a</a>'; root.firstChild.click()`)}`,
    },
    { ...LEAVES, leaks: TCP, firefox: { leaks: DNS } },
  ),
  ...row(
    "window.open()",
    HTTP,
    {
      "new tab": leave((to) => window.open(to.http)),
      "new tab without an opener": leave((to) => window.open(to.http, "_blank", "noopener")),
    },
    LEAVES_TAB,
  ),
  ...row(
    "ping and download",
    HTTP,
    { ping: (to) => `<a href="#a" ping="${to.http}" id="p">a</a>${leaving("p.click()")}` },
    { ...LEAVES, firefox: { lands: NOTHING } },
  ),
  ...row(
    "ping and download",
    HTTP,
    { download: clicked("download") },
    { ...LEAVES, firefox: { leaks: DNS } },
  ),
];

/** What a person does with them. */
const HANDLED: readonly Vector[] = [
  ...row(
    "Press on a link",
    TCP,
    { "press on a link": (to) => link(to.http) },
    { ...TAB, act: "press", ordinary: true, leaks: TCP, firefox: { lands: DNS, leaks: DNS } },
  ),
  ...row(
    "Press on a link",
    TLS,
    { "press on a link over TLS": (to) => link(to.https) },
    { ...TAB, act: "press", ordinary: true, leaks: TLS, firefox: { lands: DNS, leaks: DNS } },
  ),
  ...row(
    "Click on a link",
    HTTP,
    { "click on a link": (to) => link(to.http) },
    { ...TAB, act: "click", leaks: TCP, firefox: { leaks: DNS } },
  ),
  ...row(
    "Links in a closed shadow tree",
    HTTP,
    { "clicked by the person": (to) => hiddenLink(to.http) },
    { ...TAB, act: "click", leaks: TCP, firefox: { leaks: DNS } },
  ),
  ...(["ctrl-click", "middle-click"] as const).flatMap((act) => [
    ...row(
      "Ctrl- or middle-click on a link",
      HTTP,
      { [act]: (to) => link(to.http) },
      { ...TAB, act, ordinary: true, leaks: TCP, firefox: { leaks: DNS } },
    ),
    ...row(
      "Ctrl- or middle-click on a hidden link",
      HTTP,
      {
        [`${act} in a closed shadow tree`]: (to) => hiddenLink(to.http),
        [`${act} in a nested frame`]: (to) => framedLink(to.http),
        [`${act} with preventDefault() replaced`]: (to) => disarmed(to.http),
      },
      { ...TAB, act, ordinary: true, leaks: HTTP },
    ),
  ]),
];

/** Everything about forms, links and new tabs. */
export const LINKS: readonly Vector[] = [...SCRIPTED, ...HANDLED];
