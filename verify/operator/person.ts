import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright";
import { openWatched, type Watched } from "../support/chromium.ts";
import { SECRET } from "./deployment.ts";

/** Signs in at a page of its own, as a person does. */
export async function signedIn(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Watched & { readonly context: BrowserContext }> {
  const watched = await openWatched(browser, options);
  const { page } = watched;
  await page.goto(`${url}/operator`);
  await page.getByLabel("Operator secret").fill(SECRET);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Connections" }).waitFor();
  return { ...watched, context: page.context() };
}

/** Goes to another page by the navigation. */
export async function go(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
}

/** How far a page reaches beyond the window, in pixels. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
}
