import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

export const DESKTOP = { width: 1280, height: 900 };
export const CARD = 'metergate-pricing [part~="plan"]';

/** A page with what its widget does. */
export interface WatchedWidget {
  page: Page;
  /** Of the page's console, with what the policy blocked. */
  warnings: string[];
  errors: string[];
  /** Bodies of the reports to the funnel. */
  reports: Array<{ event: string; sessionId: string; planId?: string }>;
}

/** In a context of its own, which ends with the running test. */
export async function openWatched(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedWidget> {
  const context = await browser.newContext({ viewport: DESKTOP, locale: 'en-US', ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const opened: WatchedWidget = { page, warnings: [], errors: [], reports: [] };
  page.on('console', (message) => {
    if (message.type() === 'warning') opened.warnings.push(message.text());
    if (message.type() === 'error') opened.errors.push(message.text());
  });
  page.on('pageerror', (error) => opened.errors.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().includes('/events/funnel')) return;
    opened.reports.push(JSON.parse(request.postData() ?? '{}'));
  });
  await page.goto(url);
  return opened;
}

/** Of every element that matches, once three plans are shown. */
export async function textsOf(page: Page, selector: string): Promise<string[]> {
  await page.locator(CARD).nth(2).waitFor();
  const texts = await page.locator(selector).allInnerTexts();
  return texts.map((text) => text.replace(/\s+/g, ' ').trim());
}
