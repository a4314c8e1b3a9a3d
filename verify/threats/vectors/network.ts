import { ABSENT, HTTP, leave, OWN, row, run, TCP, TLS, UDP, type Vector } from "../vector.ts";
import type { Target } from "../witness.ts";

/** Opens a peer connection whose ICE server is the witness. */
async function gather({ urls }: { urls: string }): Promise<void> {
  const server = { urls, username: "u", credential: "p" };
  const peer = new RTCPeerConnection({ iceServers: [server] });
  Object.assign(window, { [`peer${Math.random()}`]: peer });
  peer.createDataChannel("a");
  await peer.setLocalDescription(await peer.createOffer());
}

type Url = (to: Target) => string;

const ice = (url: Url) => (to: Target) =>
  `<script>say("ran").finally(() => (${String(gather)})({ urls: "${url(to)}" }))</script>`;

/** The same in a frame within, which comes when the word that it ran is with the host. */
const framedIce = (url: Url) => (to: Target) => {
  const script = `<script>(${String(gather)})({ urls: "${url(to)}" })</script>`;
  const html = JSON.stringify(script).replaceAll("</", "<\\/");
  return `<script>say("ran").finally(() => {
    const frame = document.createElement("iframe");
    frame.srcdoc = ${html};
    document.documentElement.append(frame);
  })</script>`;
};

/** Speaks to an address that the attacker names, with no server in between. */
async function checkCandidate(to: Target): Promise<void> {
  const [peer, other] = [new RTCPeerConnection(), new RTCPeerConnection()];
  Object.assign(window, { peers: [peer, other] });
  peer.createDataChannel("a");
  await peer.setLocalDescription(await peer.createOffer());
  await other.setRemoteDescription({ type: "offer", sdp: peer.localDescription?.sdp ?? "" });
  await other.setLocalDescription(await other.createAnswer());
  await peer.setRemoteDescription({ type: "answer", sdp: other.localDescription?.sdp ?? "" });
  const candidate = `candidate:1 1 udp 2122260223 ${to.address} ${to.port} typ host`;
  await peer.addIceCandidate({ candidate, sdpMid: "0", sdpMLineIndex: 0 });
}

const REQUESTS: readonly Vector[] = [
  ...row("fetch", HTTP, {
    "fetch()": run((to) => fetch(to.http)),
    "fetch() without CORS": run((to) => fetch(to.http, { mode: "no-cors" })),
    "fetch() that outlives its page": run((to) => fetch(to.http, { keepalive: true })),
  }),
  ...row(
    "fetch",
    TLS,
    {
      "fetchLater()": run((to) => {
        const later = (window as { fetchLater?: (url: string, init: object) => void }).fetchLater;
        later?.(to.https, { activateAfter: 0 });
      }),
    },
    { firefox: ABSENT },
  ),
  ...row("XMLHttpRequest", HTTP, {
    XMLHttpRequest: run((to) => {
      const request = new XMLHttpRequest();
      request.open("GET", to.http);
      request.send();
    }),
  }),
  ...row("WebSocket", HTTP, { WebSocket: run((to) => new WebSocket(to.ws)) }),
  ...row("EventSource", HTTP, { EventSource: run((to) => new EventSource(to.http)) }),
  ...row("sendBeacon", HTTP, { "sendBeacon()": run((to) => navigator.sendBeacon(to.http, "a")) }),
  ...row(
    "WebTransport",
    UDP,
    { WebTransport: run((to) => new WebTransport(to.https)) },
    { network: true },
  ),
];

const WEBRTC: readonly Vector[] = [
  ...row(
    "WebRTC",
    UDP,
    {
      "STUN server": ice((to) => `stun:${to.host}:${to.port}`),
      "TURN server": ice((to) => `turn:${to.host}:${to.port}`),
      "STUN server in a nested frame": framedIce((to) => `stun:${to.host}:${to.port}`),
    },
    { network: true, leaks: UDP },
  ),
  ...row(
    "WebRTC",
    TCP,
    {
      "TURN server over TCP": ice((to) => `turn:${to.host}:${to.port}?transport=tcp`),
    },
    { network: true, leaks: TCP },
  ),
  ...row(
    "WebRTC",
    TLS,
    { "TURN server over TLS": ice((to) => `turns:${to.host}:${to.port}?transport=tcp`) },
    { network: true, leaks: TLS },
  ),
  ...row(
    "WebRTC",
    ["udp"],
    { "candidate of the other side": leave(checkCandidate) },
    { network: true, leaks: ["udp"] },
  ),
];

const THREADS: readonly Vector[] = [
  ...row("Workers", OWN, {
    "Worker of the own origin": run((to) => new Worker(to.own)),
    "SharedWorker of the own origin": run((to) => new SharedWorker(to.own)),
  }),
  ...row("Workers", HTTP, {
    "Worker from a blob that fetches": run((to) => {
      const code = new Blob([`fetch(${JSON.stringify(to.http)})`], { type: "text/javascript" });
      return new Worker(URL.createObjectURL(code));
    }),
    "Worker from a blob that imports": run((to) => {
      const code = new Blob([`importScripts(${JSON.stringify(`${to.http}a.js`)})`]);
      return new Worker(URL.createObjectURL(code));
    }),
    "Worker from a data address that fetches": run(
      (to) => new Worker(`data:text/javascript,fetch(${JSON.stringify(to.http)})`),
    ),
    "audio worklet": run((to) => new AudioContext().audioWorklet.addModule(`${to.http}a.js`)),
  }),
  ...row(
    "Workers",
    HTTP,
    {
      "paint worklet": run((to) => {
        const { paintWorklet } = CSS as { paintWorklet?: Worklet };
        return paintWorklet?.addModule(`${to.http}a.js`);
      }),
    },
    { firefox: ABSENT },
  ),
  ...row("Service workers", OWN, {
    "serviceWorker.register()": run((to) => navigator.serviceWorker.register(to.own)),
  }),
];

/** Interfaces that send by themselves, and those of other threads. */
export const NETWORK: readonly Vector[] = [...REQUESTS, ...WEBRTC, ...THREADS];
