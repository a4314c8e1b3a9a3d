// @ts-check

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

const STYLE = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 26rem; margin: 10vh auto; padding: 0 1rem; }
  label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
  input, button { padding: 0.6rem; margin: 0.25rem 0 1rem; }
  [role="alert"] { font-weight: bold; }
`;

/**
 * @param {import("node:http").ServerResponse} response
 * @param {number} status
 * @param {string} title
 * @param {string} body HTML
 */
function send(response, status, title, body) {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    "cache-control": "no-store",
    // Without any referrer a browser would hide the origin of the answer, which is looked at.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
  });
  response.end(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><main><h1>${escaped(title)}</h1>${body}</main></body>
</html>`);
}

/**
 * Asks the one person whether a host may come in.
 * @param {import("node:http").ServerResponse} response
 * @param {{ host: string, returnsTo: string, resource: string, problem?: string }} asked
 */
export function sendQuestion(response, { host, returnsTo, resource, problem }) {
  send(
    response,
    problem === undefined ? 200 : 403,
    "Let this host in?",
    `
    <p><strong>${escaped(host)}</strong> wants to call <code>${escaped(resource)}</code> in your
    name. The name is its own choice; you will be sent on to
    <strong>${escaped(returnsTo)}</strong>.</p>
    ${problem === undefined ? "" : `<p role="alert">${escaped(problem)}</p>`}
    <form method="post">
      <label for="passphrase">Your passphrase</label>
      <input id="passphrase" name="passphrase" type="password" autocomplete="current-password"
        required autofocus>
      <button name="answer" value="allow">Let it in</button>
      <button name="answer" value="refuse" formnovalidate>Refuse</button>
    </form>`,
  );
}

/**
 * Says what went wrong.
 * @param {import("node:http").ServerResponse} response
 * @param {number} status
 * @param {string} problem
 */
export function sendProblem(response, status, problem) {
  send(response, status, "That did not work", `<p role="alert">${escaped(problem)}</p>`);
}
