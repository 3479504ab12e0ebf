import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { violations } from './accessibility.ts';
import { consoleOfThisFile, settled, show, takePicture } from './console-under-test.ts';

/*
 * Every screen of the console in Chromium, at three widths, light and dark: it shows its data, asks only its
 * own origin, writes nothing on the browser's console, is no wider than the window, and axe finds nothing.
 * The pictures are in .cache/console-pictures.
 *
 * Red with: a style attribute or an inline script; a label without its field; grey text on grey; a table that
 * does not become cards; an image or font of another origin.
 */
const { instance, seeded, browser, open } = await consoleOfThisFile();
const [customer = ''] = seeded.customers;

/** By name: the address, and a text that only its data show. */
const SCREENS: ReadonlyArray<readonly [name: string, address: string, shows: string]> = [
  ['overview', '#/', 'Birch & Co'],
  ['customers', '#/customers', 'Aurora Labs'],
  ['customers-search', '#/customers?q=cobalt', 'Cobalt Systems'],
  ['customer-access', `#/customers/${customer}`, 'granted_by_override'],
  ['customer-usage', `#/customers/${customer}?tab=usage&range=30-days&group=region`, 'apac'],
  ['customer-subscriptions', `#/customers/${customer}?tab=subscriptions`, 'every month'],
  ['customer-cost', `#/customers/${customer}?tab=cost`, 'Total in EUR'],
  ['customer-credits', `#/customers/${customer}?tab=credits`, 'Welcome credits'],
  ['customer-audit', `#/customers/${customer}?tab=audit`, 'customers.create'],
  ['meters', '#/meters', 'API calls'],
  ['meter', '#/meters/calls?group=region&compare=before', 'apac'],
  ['meter-customers', '#/meters/calls?group=customerId', 'Birch & Co'],
  ['events-live', '#/events', 'Nothing was counted since'],
  ['event-found', `#/events?tab=find&event=${customer}-0`, 'Aurora Labs'],
  ['events-find', `#/events?tab=find&customer=${customer}&meter=calls`, 'region: eu'],
  ['catalogue', '#/catalogue', 'Single sign-on'],
  ['plan', `#/catalogue/${seeded.planId}`, '€49.00'],
  ['webhooks', '#/webhooks', 'hooks'],
  ['webhook-endpoint', `#/webhooks/${seeded.endpointId}`, 'customer.created'],
  ['health', '#/health', 'Postgres responds.'],
  ['not-found', '#/nowhere', 'no such screen'],
];
const WIDTHS = [390, 1024, 1600];
const THEMES = ['light', 'dark'] as const;

describe.each(THEMES)('in %s', (theme) => {
  describe.each(WIDTHS)('at %i px', (width) => {
    it('the sign-in is whole', async () => {
      const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme: theme });
      const page = await context.newPage();
      await page.goto(`${instance.origin}/console`);
      await settled(page);
      expect(await violations(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      await takePicture(page, `sign-in-${width}-${theme}`);
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

/** By how many pixels the page is wider than the window. */
function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}
