import { Catalogs } from "../catalog/catalogs.ts";
import { explain, type ExplainedTool, type Explanation } from "../catalog/explain.ts";
import { search as searchTools, type SearchPage } from "../catalog/search.ts";
import type { SearchCommand } from "./cli-command.ts";
import { opened } from "./cli-deployment.ts";
import { printable, write } from "./cli-print.ts";
import { checkConnector, readyDeployment } from "./cli-ready.ts";
import { operatorScope } from "../catalog/inspect.ts";

/** More than a caller may ask for at once, since here a person scrolls. */
const MAX_SEARCH_PAGE = 1_000;

/** Prints what a query finds, and with `explain` why; 1 when a connector could not be searched. */
export async function search(command: SearchCommand): Promise<void> {
  const deployment = await readyDeployment(command);
  const { query, limit, connector, json } = command;
  checkConnector(connector, deployment.config);
  const { connectors, storage } = deployment.config;
  const catalogs = new Catalogs(connectors, {}, storage);
  const scope = operatorScope(deployment.signal);
  const found = command.explain
    ? opened(await explain(catalogs, query, limit, connector, scope))
    : opened(
        await searchTools(catalogs, { query, limit, ...only(connector) }, MAX_SEARCH_PAGE, scope),
      );
  await catalogs.close();
  await deployment.close();
  const { unavailable = [] } = found;
  for (const one of unavailable) {
    console.error(`connecta: ${one.connector} is left out: ${one.code}: ${printable(one.message)}`);
  }
  const text = "confidence" in found ? explained(found) : listed(found);
  await write(json ? `${JSON.stringify(found, null, 2)}\n` : text);
  process.exit(unavailable.length > 0 ? 1 : 0);
}

function only(connector: string | undefined) {
  return connector === undefined ? {} : { connector };
}

function listed({ tools, total }: SearchPage): string {
  const rows = tools.map(({ address, description }) => `${address}  ${description}`);
  return [...rows.map(printable), counted(tools.length, total)].join("\n").concat("\n");
}

function counted(shown: number, total: number): string {
  return total === 0 ? "Nothing was found." : `${shown} of ${total} that match.`;
}

function explained({ tools, total, confidence, unmatched }: Explanation): string {
  const rows = tools.flatMap((tool, i) => [
    `${i + 1}. ${printable(tool.address)}  ${number(tool.score)}`,
    ...reasons(tool).map((reason) => `     ${printable(reason)}`),
  ]);
  const unknown = unmatched.length === 0 ? [] : [`No tool knows: ${unmatched.join(", ")}`];
  const sure = total === 0 ? [] : [`The best answers ${percent(confidence)} of the query.`];
  const facts = [counted(tools.length, total), ...sure, ...unknown.map(printable)];
  return [...rows, ...facts].join("\n").concat("\n");
}

/** Every part that did something, in the order in which they are multiplied. */
function reasons({ parts, words }: ExplainedTool): string[] {
  const each = words.map(({ word, score }) => `${word} ${number(score)}`).join(", ");
  const lines = [
    [parts.words > 0, `${number(parts.words)}  its words: ${each}`],
    [parts.words > 0, `${times(parts.coverage)}  how much of the query it answers`],
    [parts.name !== 1, `${times(parts.name)}  the query covers its name`],
    [parts.affinity !== 1, `${times(parts.affinity)}  its connector is about this`],
    [parts.mention !== 1, `${times(parts.mention)}  the query names its connector`],
    [parts.action > 1, `${times(parts.action)}  it does what is asked`],
    [parts.action < 1, `${times(parts.action)}  it does something else than is asked`],
    [parts.surface !== 1, `${times(parts.surface)}  its name's very words are in the query`],
    [parts.exact > 0, "first  the query is its name"],
  ] as const;
  return lines.flatMap(([holds, line]) => (holds ? [line] : []));
}

function number(value: number): string {
  return value >= 1_000 ? value.toExponential(2) : value.toFixed(2);
}

function times(factor: number): string {
  return `×${factor.toFixed(2)}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
