import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../support/console-page.ts';
import { ofThisFile } from '../support/of-this-file.ts';

/** One that all tests of a file share. */
export function browserOfThisFile(): Promise<Browser> {
  return ofThisFile(launchBrowser(), (browser) => browser.close());
}

export interface WatchedPage {
  page: Page;
  context: BrowserContext;
  /** What no page should do: errors on its console, and requests to other origins. */
  faults: string[];
  /** Requests that change something, as `METHOD /path`. */
  changes: string[];
}

export interface PageOptions {
  origin: string;
  width?: number;
  theme?: 'light' | 'dark';
}

const HEIGHTS = { phone: 844, desk: 1000 };

/** A page of a browser without a session. */
export async function openPage(browser: Browser, options: PageOptions): Promise<WatchedPage> {
  const { origin, width = 1280, theme = 'light' } = options;
  const height = width < 500 ? HEIGHTS.phone : HEIGHTS.desk;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
  const page = await context.newPage();
  const faults: string[] = [];
  const changes: string[] = [];
  page.on('console', (message) => {
    const type = message.type();
    if (type === 'error' || type === 'warning') faults.push(`${type}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    const isOwn = url.origin === origin || url.protocol === 'data:' || url.protocol === 'blob:';
    if (!isOwn) faults.push(`a request to ${url.origin}`);
    if (isChange(request.method(), url.pathname)) changes.push(`${request.method()} ${url.pathname}`);
  });
  return { page, context, faults, changes };
}

/** These read although they are POSTs. */
const READS = ['/graphql', '/api/v1/entitlements/check'];

function isChange(method: string, path: string): boolean {
  return method !== 'GET' && !READS.includes(path);
}
