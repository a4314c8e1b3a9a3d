/**
 * Where a Chromium stands: CHROMIUM_PATH, the system's, then Playwright's own.
 * @param root the repository
 */
export function findBrowser(root: string): Promise<string | undefined>;
