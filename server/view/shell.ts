import html, { version } from "virtual:connecta-shell";
import { VIEW_CSP } from "./protocol.ts";

/** The one `ui://` address there is; its version changes exactly when the page's bytes do. */
export const SHELL_URI = `ui://connecta/program-ui/v${version}`;

/** The type that marks an HTML page as an MCP Apps view; hosts compare it literally. */
export const SHELL_MIME_TYPE = "text/html;profile=mcp-app";

/** The one extension that the server declares. */
export const APPS_EXTENSION = "io.modelcontextprotocol/ui";

/** Whether the real shell is inside this server. */
export const isBuilt: boolean = html !== undefined;

const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${VIEW_CSP}" />
    <title>Program view</title>
  </head>
  <body>
    <p>This server was built without its program view. The text answer stands; build the shell to see views.</p>
  </body>
</html>
`;

/** The page at {@link SHELL_URI}: the built shell, or one that says in words that there is none. */
export const SHELL_HTML: string = html ?? NOT_BUILT;

/**
 * Answers `resources/read`.
 * @param uri the address asked for, compared literally
 * @returns the shell as its one content item, or `undefined` for every other address
 */
export function readShell(uri: string) {
  if (uri !== SHELL_URI) return undefined;
  const item = { uri, mimeType: SHELL_MIME_TYPE, text: SHELL_HTML };
  return { contents: [{ ...item, _meta: { ui: { prefersBorder: false } } }] };
}
