/** The console in a real browser, as tests and benchmarks see it. */
import { type Browser, chromium, type Page } from 'playwright-core';

/** Debian's package, unless CHROMIUM names another. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

export function launchBrowser(): Promise<Browser> {
  // Tests run as root in containers, where the sandbox cannot.
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
}

/** Resolves when a title is there and no placeholder. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  await page.evaluate(ANIMATIONS_END);
}

/** Milliseconds since the navigation began. */
export function firstContentfulPaint(page: Page): Promise<number> {
  return page.evaluate<number>(FIRST_CONTENTFUL_PAINT);
}

/** The same of the largest element so far: of a settled page it is that of its content. */
export function largestContentfulPaint(page: Page): Promise<number> {
  return page.evaluate<number>(LARGEST_CONTENTFUL_PAINT);
}

// As text, which a debugger evaluates: types of browsers are not those of this project's programs.
/** What appears does so within a sixth of a second, and is judged when it is there. */
const ANIMATIONS_END = 'Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => 0)';
const FIRST_CONTENTFUL_PAINT = `new Promise((done) => {
  const observer = new PerformanceObserver((list) => {
    const found = list.getEntries().find(({ name }) => name === 'first-contentful-paint');
    if (found) done(found.startTime);
  });
  observer.observe({ type: 'paint', buffered: true });
})`;
const LARGEST_CONTENTFUL_PAINT = `new Promise((done) => {
  const observer = new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime));
  observer.observe({ type: 'largest-contentful-paint', buffered: true });
})`;
