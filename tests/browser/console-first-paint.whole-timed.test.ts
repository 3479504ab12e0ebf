import { expect, it } from 'vitest';
import { firstContentfulPaint, settled } from '../support/console-page.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { browserOfThisFile, openPage } from './browser.ts';

const instance = await instanceOfThisFile();
const browser = await browserOfThisFile();

/** Cold: a browser that was never there. The best of five, since this machine may do other work too. */
it('the console shows something within a second', async () => {
  const timesMs: number[] = [];
  for (const _ of [1, 2, 3, 4, 5]) {
    const { page, context } = await openPage(browser, { origin: instance.origin });
    await page.goto(`${instance.origin}/console`);
    await settled(page);
    timesMs.push(await firstContentfulPaint(page));
    await context.close();
  }
  console.info(`first contentful paint: ${timesMs.map(Math.round).join(', ')} ms`);
  expect(Math.min(...timesMs)).toBeLessThan(1_000);
});
