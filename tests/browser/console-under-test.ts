import { mkdirSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { settled } from '../support/console-page.ts';
import type { Instance } from '../support/instance.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { browserOfThisFile, openPage, type PageOptions, type WatchedPage } from './browser.ts';
import { type Seeded, seedConsole } from './seed-console.ts';

/** The console of a whole Metergate with data in test mode, and a browser. */
export interface ConsoleUnderTest {
  instance: Instance;
  seeded: Seeded;
  browser: Browser;
  /** A page that is signed in to test mode. */
  open(options?: Omit<PageOptions, 'origin'>): Promise<WatchedPage>;
}

export { settled };

const PICTURES = '.cache/console-pictures';

export async function consoleOfThisFile(): Promise<ConsoleUnderTest> {
  const [instance, browser] = await Promise.all([instanceOfThisFile(), browserOfThisFile()]);
  const { secret } = instance.keys().test;
  const seeded = await seedConsole(instance.origin, secret);
  return {
    instance,
    seeded,
    browser,
    async open(options = {}) {
      const watched = await openPage(browser, { origin: instance.origin, ...options });
      await watched.page.goto(`${instance.origin}/console#key=${secret}`);
      await watched.page.waitForSelector('nav[aria-label="Screens"]', { state: 'attached' });
      return watched;
    },
  };
}

/** Goes there, and resolves when nothing of it loads any more. */
export async function show(page: Page, address: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
  await page.evaluate(TWO_FRAMES);
  await settled(page);
}

// As text, which a debugger evaluates: types of browsers are not those of this project's programs.
/** A new address is drawn by then. */
const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))';

/** Kept as an artefact of the run. */
export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
}
