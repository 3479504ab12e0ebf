import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { violations } from './accessibility.ts';
import { openPage } from './browser.ts';
import { consoleOfThisFile, settled, show, takePicture } from './console-under-test.ts';

/*
 * Every screen of the console in Chromium, at three widths, light and dark: it shows its data, asks only its
 * own origin, writes nothing on the browser's console, is no wider than the window, and axe finds nothing.
 * The pictures are in .cache/console-pictures.
 *
 * Red with: a style attribute or an inline script; a label without its field; grey text on grey; a table that
 * does not become cards; an image or font of another origin.
 */
const { instance, demo, browser, call, open } = await consoleOfThisFile();
// A published plan gets a second version by its first change.
const { entitlements } = await call<{ entitlements: Array<{ featureKey: string; value: unknown }> }>(
  ...['GET', '/plans/pro/entitlements'],
);
const more = entitlements.map((one) => (one.featureKey === 'seats' ? { ...one, value: 12 } : one));
await call('PUT', '/plans/pro/entitlements', { entitlements: more });

/** By name: the address, and a text that only its data show. */
const SCREENS: ReadonlyArray<readonly [name: string, address: string, shows: string]> = [
  ['overview', '#/', 'Cascade Robotics'],
  ['levels', '#/overview/levels', 'Cascade Robotics'],
  ['customers', '#/customers', 'Willow Housing'],
  ['customers-search', '#/customers?q=cobalt', 'No customer has that text.'],
  ['subscriptions', '#/customers?subscription=past_due', 'Fjord Mobility'],
  ['customer-access', '#/customers/cascade', 'limit_reached'],
  ['customer-override', '#/customers/juniper', 'Suspended until the contract is signed'],
  ['customer-usage', '#/customers/foxglove?tab=usage&range=30-days&group=region', 'ap-south'],
  ['customer-subscriptions', '#/customers/aurora?tab=subscriptions', 'Extra seats'],
  ['customer-cost', '#/customers/aurora?tab=cost', 'Total in EUR'],
  ['customer-credits', '#/customers/kestrel?tab=credits', 'Prepaid package'],
  ['customer-audit', '#/customers/aurora?tab=audit', 'customers.create'],
  ['meters', '#/meters', 'API calls'],
  ['meter', '#/meters/api-calls?group=region', 'ap-south'],
  ['meter-compared', '#/meters/ai-tokens?group=model&compare=before', 'the time before'],
  ['meter-customers', '#/meters/ai-tokens?group=customerId', 'Kestrel Aviation'],
  ['events-live', '#/events', 'Nothing was counted since'],
  ['event-found', '#/events?tab=find&event=demo%2Faurora%2Fapi-calls%2F0', 'Aurora Analytics'],
  ['events-find', '#/events?tab=find&customer=aurora&meter=api-calls', 'region: eu-west'],
  ['catalogue', '#/catalogue', 'Single sign-on'],
  ['plan', '#/catalogue/business', '€2,490.00'],
  ['plan-versions', '#/catalogue/pro', 'Version 2'],
  ['webhooks', '#/webhooks', 'usage.threshold'],
  ['webhook-endpoint', `#/webhooks/${demo.endpointId}`, 'Attempts'],
  ['health', '#/health', 'Postgres responds.'],
  ['not-found', '#/nowhere', 'no such screen'],
];
const WIDTHS = [390, 1024, 1600];
const THEMES = ['light', 'dark'] as const;

describe.each(THEMES)('in %s', (theme) => {
  describe.each(WIDTHS)('at %i px', (width) => {
    it('the sign-in is whole, and what a link shows', async () => {
      const { page, context, faults } = await openPage(browser, { origin: instance.origin, width, theme });
      const { live, test } = instance.keys();
      await page.goto(`${instance.origin}/console`);
      await page.getByLabel('Secret key').waitFor();
      await isWhole(page, `sign-in-${width}-${theme}`);
      await page.goto(`${instance.origin}/console#key=${test.secret}`);
      await page.getByRole('region', { name: 'Sign-in by a link' }).getByText('Demo').waitFor();
      await isWhole(page, `link-notice-${width}-${theme}`);
      await page.goto(`${instance.origin}/console#key=${live.secret}`);
      await page.getByText('Demo, live mode').waitFor();
      await isWhole(page, `link-question-${width}-${theme}`);
      expect(faults).toEqual([]);
      await context.close();
    });

    it('every screen is whole', async () => {
      const { page, context, faults } = await open({ width, theme });
      const broken: string[] = [];
      for (const [name, address, shows] of SCREENS) {
        await show(page, address);
        await page.getByText(shows).first().waitFor({ state: 'attached' });
        await settled(page);
        await takePicture(page, `${name}-${width}-${theme}`);
        broken.push(...(await violations(page)).map((one) => `${name}: ${one}`));
        const wider = await overflow(page);
        if (wider > 0) broken.push(`${name}: ${wider} px wider than the window`);
      }
      expect(broken).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    });
  });
});

async function isWhole(page: Page, name: string): Promise<void> {
  await settled(page);
  await takePicture(page, name);
  expect(await violations(page)).toEqual([]);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
}

/** By how many pixels the page is wider than the window. */
function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}
