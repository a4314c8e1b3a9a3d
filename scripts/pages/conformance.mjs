const INTRO = [
  "# Conformance",
  "",
  "What the official suite, `@modelcontextprotocol/conformance`, says of the server, in both protocol",
  "generations. `npm run conformance` installs the suite, runs it and fails on whatever is not as it",
  "stands in `verify/conformance/expected.json`, where every check that fails has its reason; with",
  "`RECORD=1`, and `npm run pages` after it, this page says what came of it.",
  "",
  "The suite is written for a server whose tools, prompts and resources it knows by name. A gateway",
  "with seven tools of its own has none of them, and that is all that fails below. What the suite sees",
  "of the protocol itself without them (initialize, discovery, listings, headers, statelessness,",
  "caching hints, foreign names and origins, unknown methods and resources) it finds as it should be.",
].join("\n");

/**
 * The page of conformance.
 * @param recorded what the last run that was written down found, by generation
 * @param {{ reasons: object, expected: object }} judged why each check that fails does
 */
export function conformancePage(recorded, { reasons, expected }) {
  const parts = Object.entries(recorded).map(([generation, { suite, scenarios }]) =>
    section(generation, suite, scenarios, expected[generation]),
  );
  const why = Object.entries(reasons).map(([name, text]) => `| ${name} | ${text} |`);
  const last = ["## Reasons", "", "| reason | in full |", "| --- | --- |", ...why].join("\n");
  return `${[INTRO, ...parts, last].join("\n\n")}\n`;
}

function section(generation, suite, scenarios, expected) {
  const all = Object.entries(scenarios);
  const met = all.reduce((sum, [, { passed }]) => sum + passed, 0);
  const unmet = all.reduce((sum, [, { unmet: ids }]) => sum + ids.length, 0);
  const rows = all.map(([name, { passed, unmet: ids }]) => {
    const why = [...new Set(ids.map((id) => expected[`${name}/${id}`] ?? "?"))];
    return `| \`${name}\` | ${passed} | ${ids.length || ""} | ${why.join(", ")} |`;
  });
  return [
    `## Generation ${generation}`,
    "",
    `Suite ${suite}: ${met} checks met, ${unmet} not.`,
    "",
    "| scenario | met | not met | [because](#reasons) |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}
