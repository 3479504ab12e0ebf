import { mkdirSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { seenInTime } from '../support/in-time.ts';
import type { Instance } from '../support/instance.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { browserOfThisFile, openPage, type PageOptions, type WatchedPage } from './browser.ts';
import { type Call, createCall } from './call-api.ts';
import { awaitDemo, type Demo } from './demo.ts';

/** The console of a whole Metergate with the demo's data in test mode, and a browser. */
export interface ConsoleUnderTest {
  instance: Instance;
  demo: Demo;
  browser: Browser;
  /** With the secret key of test mode. */
  call: Call;
  /** A page that is signed in to test mode. */
  open(options?: Omit<PageOptions, 'origin'>): Promise<WatchedPage>;
}

const PICTURES = '.cache/console-pictures';

export async function consoleOfThisFile(): Promise<ConsoleUnderTest> {
  const starting = instanceOfThisFile({ LOG_LEVEL: 'warn', SEED_DEMO: 'true' });
  const [instance, browser] = await Promise.all([starting, browserOfThisFile()]);
  const { secret } = instance.keys().test;
  const call = createCall(instance.origin, secret);
  const demo = await awaitDemo(call);
  // Filling it keeps a busy machine from other work for a while, which the console would report.
  const isReady = async () => (await fetch(`${instance.origin}/readyz`)).ok || undefined;
  await seenInTime(isReady, { timeoutMs: 60_000, everyMs: 200 }, 'an instance that is ready');
  return {
    instance,
    browser,
    call,
    demo,
    async open(options = {}) {
      const watched = await openPage(browser, { origin: instance.origin, ...options });
      await watched.page.goto(`${instance.origin}/console#key=${secret}`);
      await watched.page.getByRole('button', { name: 'It is mine' }).click();
      return watched;
    },
  };
}

/** Goes there, and resolves when nothing of it loads any more. */
export async function show(page: Page, address: string): Promise<void> {
  await page.evaluate(`(${GO_TO})(${JSON.stringify(address)})`);
  await settled(page);
}

/** Resolves when a title is there and no placeholder. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  await page.evaluate(ANIMATIONS_END);
}

// As text, which a debugger evaluates: types of browsers are not those of this project's programs.
/** Resolves when the console has received the address and has drawn it. */
const GO_TO = `(address) => new Promise((done) => {
  const drawn = () => requestAnimationFrame(() => requestAnimationFrame(() => done(0)));
  if (location.hash === address) return drawn();
  addEventListener('hashchange', drawn, { once: true });
  location.hash = address;
})`;
/** What appears does so within a sixth of a second, and is judged when it is there. */
const ANIMATIONS_END = 'Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => 0)';

/** Kept as an artefact of the run. */
export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
}
