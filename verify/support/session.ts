import type { Browser } from "playwright";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { launchChromium, mustBeQuiet, openWatched, type Watched } from "./chromium.ts";
import { HostPage } from "./page.ts";
import { makeRepository, type Repository } from "./repository.ts";
import { startServer, type Running } from "./server.ts";

/** The demo server on a repository of its own, and a fresh, watched host page for each test. */
export interface Session {
  browser: Browser;
  repository: Repository;
  server: Running;
  watched: Watched;
  host: HostPage;
}

/**
 * Opens a session around the tests of a file; a console error, page error or CSP violation fails
 * the test in which it happened.
 * @param commits in the repository
 */
export function hostSession(commits: number): Session {
  const session = {} as Session;
  beforeAll(async () => {
    session.repository = makeRepository(commits);
    [session.browser, session.server] = await Promise.all([
      launchChromium(),
      startServer(session.repository.directory),
    ]);
  });
  beforeEach(async () => {
    session.watched = await openWatched(session.browser);
    session.host = new HostPage(session.watched.page);
    await session.host.open(session.server.origin);
  });
  afterEach(async () => {
    await session.watched.page.context().close();
    mustBeQuiet(session.watched);
  });
  afterAll(async () => {
    try {
      await session.browser.close();
      await session.server.stop();
    } finally {
      session.repository.remove();
    }
  });
  return session;
}
