import { expect } from "vitest";

/** As far as the clients of every generation are alike. */
interface AnyClient {
  listTools(): Promise<{ tools: { _meta?: Record<string, unknown> | undefined }[] }>;
  callTool(params: {
    name: string;
    arguments: Record<string, unknown>;
  }): Promise<Record<string, unknown>>;
  readResource(params: { uri: string }): Promise<{ contents: { mimeType?: string | undefined }[] }>;
}

/**
 * What every client must be able to do: list the tools, read the view, run a program that renders.
 * @param expression what the program returns
 * @param result what that is
 */
export async function exercise(
  client: AnyClient,
  expression: string,
  result: unknown,
): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools).toHaveLength(7);
  const ui = tools[0]?._meta?.ui as { resourceUri: string };
  const { contents } = await client.readResource({ uri: ui.resourceUri });
  expect(contents[0]?.mimeType).toBe("text/html;profile=mcp-app");
  const code = `async () => { await connecta.ui("<p>x</p>"); return ${expression} }`;
  const answer = await client.callTool({ name: "execute_code", arguments: { code } });
  expect(answer.structuredContent).toEqual({ result, ui: true });
  expect(answer._meta).toMatchObject({ "connecta/ui": { html: "<p>x</p>" } });
}
