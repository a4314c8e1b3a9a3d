/** One published state of the shell. */
export interface Version {
  readonly version: number;
  readonly sha256: string;
}

/** What is wrong with a built page; `undefined` when it stands for its sources. */
export function freshnessProblem(page: string | undefined, sourceHash: string): string | undefined {
  const built = page && /name="connecta-shell-src-sha256" content="([0-9a-f]{64})"/.exec(page)?.[1];
  if (!built) return "the shell is not built: run the build";
  return built === sourceHash ? undefined : "the built shell is stale: run the build again";
}

/**
 * What is wrong with the list of versions; `undefined` when nothing is.
 * @param earlier what the list must begin with: pinned or released entries
 * @param pageHash SHA-256 of the built page
 */
export function versionsProblem(
  recorded: readonly Version[],
  earlier: readonly Version[],
  pageHash: string,
): string | undefined {
  if (recorded.some(({ version }, index) => version !== index + 1)) {
    return "the versions do not count from 1";
  }
  for (const [index, { version, sha256 }] of earlier.entries()) {
    const now = recorded[index];
    if (!now) return `version ${version} was removed`;
    if (now.sha256 !== sha256) return `version ${version} was changed`;
  }
  const current = recorded.at(-1);
  if (current?.sha256 === pageHash) return undefined;
  return `the built bytes are not those of version ${current?.version}: record a new version`;
}
