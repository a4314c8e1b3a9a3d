import { ABSENT, DNS, HTTP, NOTHING, OWN, row, run, TCP, TLS, type Vector } from "../vector.ts";

const ELEMENTS: readonly Vector[] = [
  ...row("Pictures and media", HTTP, {
    img: (to) => `<img src="${to.http}">`,
    "input as a picture": (to) => `<input type="image" src="${to.http}">`,
    "background of the body": (to) =>
      `<script>addEventListener("load", () => (document.body.background = "${to.http}"))</script>`,
    "image in a drawing": (to) => `<svg><image href="${to.http}"/></svg>`,
    "feImage in a drawing": (to) =>
      `<svg><filter id="f"><feImage href="${to.http}"/></filter><rect filter="url(#f)" width="9" height="9"/></svg>`,
    "new Image()": run((to) => {
      new Image().src = to.http;
    }),
    video: (to) => `<video src="${to.http}" preload="auto"></video>`,
    "video poster": (to) => `<video poster="${to.http}"></video>`,
    audio: (to) => `<audio src="${to.http}" preload="auto"></audio>`,
    source: (to) => `<video preload="auto"><source src="${to.http}"></video>`,
    track: (to) =>
      `<video src="data:video/mp4;base64,AAAA" crossorigin><track default kind="captions" src="${to.http}a.vtt"></video>`,
  }),
  ...row(
    "Pictures and media",
    HTTP,
    {
      "img with a set of sources": (to) => `<img srcset="${to.http} 1x">`,
      picture: (to) => `<picture><source srcset="${to.http}"><img></picture>`,
    },
    { needs: "view" },
  ),
  ...row("Objects", HTTP, {
    object: (to) => `<object data="${to.http}"></object>`,
    embed: (to) => `<embed src="${to.http}">`,
  }),
  ...row("Scripts", HTTP, {
    script: (to) => `<script src="${to.http}a.js"></script>`,
    "module script": (to) => `<script type="module" src="${to.http}a.js"></script>`,
    "static import": (to) => `<script type="module">import "${to.http}a.js"</script>`,
    "dynamic import": (to) => `<script>import("${to.http}a.js")</script>`,
    "script in a drawing": (to) => `<svg><script href="${to.http}a.js"></script></svg>`,
  }),
];

const STYLES: readonly Vector[] = [
  ...row("Style sheets", HTTP, {
    stylesheet: (to) => `<link rel="stylesheet" href="${to.http}a.css">`,
    "@import": (to) => `<style>@import "${to.http}a.css";</style>`,
    "url() as a background": (to) => `<p style="background:url(${to.http})">a`,
    "url() as a cursor": (to) => `<p style="cursor:url(${to.http}),auto">a`,
    "url() in content": (to) =>
      `<style>#c${to.label}::before{content:url(${to.http})}</style><p id="c${to.label}">`,
    "url() in a property of its own": (to) =>
      `<p style="--a:url(${to.http});background:var(--a)">a`,
    "image-set()": (to) => `<p style="background:image-set('${to.http}' 1x)">a`,
    "-webkit-image-set()": (to) => `<p style="background:-webkit-image-set(url(${to.http}) 1x)">a`,
    "list-style": (to) => `<ul style="list-style:url(${to.http})"><li>a</ul>`,
    "border-image": (to) => `<p style="border:1px solid;border-image:url(${to.http}) 1">a`,
    mask: (to) => `<p style="mask:url(${to.http}a.svg#m)">a`,
  }),
  ...row("Fonts", HTTP, {
    "@font-face": (to) =>
      `<style>@font-face{font-family:f${to.label};src:url(${to.http})}</style><p style="font-family:f${to.label}">a`,
    FontFace: run((to) => new FontFace("a", `url(${to.http})`).load()),
  }),
];

const HINTS: readonly Vector[] = [
  ...row("Preload and modulepreload", HTTP, {
    "preload of a script": (to) => `<link rel="preload" as="script" href="${to.http}">`,
    "preload of a picture": (to) => `<link rel="preload" as="image" href="${to.http}">`,
    "preload of a font": (to) => `<link rel="preload" as="font" crossorigin href="${to.http}">`,
    "preload for fetch()": (to) => `<link rel="preload" as="fetch" crossorigin href="${to.http}">`,
    modulepreload: (to) => `<link rel="modulepreload" href="${to.http}a.js">`,
  }),
  ...row(
    "Prefetch",
    HTTP,
    { prefetch: (to) => `<link rel="prefetch" href="${to.http}">` },
    { needs: "tab", page: true },
  ),
  ...row(
    "Icon and manifest",
    HTTP,
    { icon: (to) => `<link rel="icon" href="${to.http}">` },
    { needs: "tab", page: true },
  ),
  ...row(
    "Icon and manifest",
    HTTP,
    { manifest: (to) => `<link rel="manifest" href="${to.http}">` },
    { needs: "tab", page: true, firefox: ABSENT },
  ),
  ...row(
    "Preconnect",
    TCP,
    { preconnect: (to) => `<link rel="preconnect" href="${to.http}">` },
    { leaks: TCP, firefox: { lands: DNS, leaks: DNS } },
  ),
  ...row(
    "Preconnect",
    TLS,
    { "preconnect over TLS": (to) => `<link rel="preconnect" href="${to.https}">` },
    { leaks: TLS, firefox: { lands: DNS, leaks: DNS } },
  ),
  ...row(
    "DNS prefetch",
    DNS,
    { "dns-prefetch": (to) => `<link rel="dns-prefetch" href="${to.http}">` },
    { leaks: DNS, network: true },
  ),
  ...row(
    "DNS prefetch",
    NOTHING,
    { "link that nobody follows": (to) => `<a href="${to.http}">a</a>` },
    { network: true, firefox: { lands: DNS, leaks: DNS } },
  ),
  ...row(
    "Speculation rules",
    OWN,
    {
      "prefetch at once": (to) => speculate("prefetch", to.own),
      "prerender at once": (to) => speculate("prerender", to.own),
    },
    { needs: "tab", act: "look", page: true, firefox: ABSENT },
  ),
  ...row(
    "Speculation rules",
    TLS,
    { "prefetch of another origin": (to) => speculate("prefetch", to.https) },
    { needs: "tab", act: "look", page: true, firefox: ABSENT },
  ),
];

function speculate(how: string, url: string): string {
  const rules = { [how]: [{ urls: [url], eagerness: "immediate" }] };
  return `<script type="speculationrules">${JSON.stringify(rules)}</script>`;
}

/** Everything that a document loads, or prepares to load, by its markup. */
export const RESOURCES: readonly Vector[] = [...ELEMENTS, ...STYLES, ...HINTS];
