import { build } from "vite";
import { builtShell, travel } from "../../shell/build.ts";

/**
 * The Worker of an entry, as the text of one module that needs nothing but its runtime.
 * @param root the repository
 * @param alias what is meant by an import, for an entry that imports the package
 */
export async function bundled(
  root: string,
  entry: string,
  alias: Readonly<Record<string, string>> = {},
): Promise<string> {
  const built = await build({
    root,
    configFile: false,
    logLevel: "warn",
    plugins: [builtShell(root), travel()],
    resolve: { alias: Object.entries(alias).map(([find, to]) => ({ find, replacement: to })) },
    ssr: { noExternal: true, target: "webworker" },
    build: {
      ssr: true,
      write: false,
      minify: false,
      target: "es2023",
      rollupOptions: {
        input: entry,
        external: /^(?:cloudflare|node):/,
        output: { codeSplitting: false },
      },
    },
  });
  const [one] = [built].flat();
  if (one === undefined || !("output" in one)) throw new Error(`${entry} was not built.`);
  return one.output[0].code;
}
