import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deferred } from '../support/deferred.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { ofThisFile } from '../support/of-this-file.ts';
import { violations } from './accessibility.ts';
import { browserOfThisFile } from './browser.ts';
import { openFunnel } from './funnel-counts.ts';
import { CARD, DESKTOP, openWatched, textsOf } from './watched-widget.ts';
import { makeCatalogue } from './widget-catalogue.ts';
import { openSite } from './widget-site.ts';

/*
 * The pricing and usage widgets in a real Chromium, on a page of another origin under the policy that the
 * documentation names, against a whole Metergate behind its public port.
 *
 * Seen red with: styles in a style element; the view reported when plans are there, or each time they are;
 * the session left out of the plan's address; the event dispatched before the report, or its default kept;
 * the placeholder without its height; a warning for each attempt; no slot; prices of the first interval, or
 * of one language; a token that hides the plans when it is not accepted; a text too pale.
 */
const instance = await instanceOfThisFile();
const keys = instance.keys();
const { origin } = instance;
const { call, planIds } = await makeCatalogue(origin, keys.live.secret);
const site = await ofThisFile(openSite(origin), ({ close }) => close());
const browser = await browserOfThisFile();
const funnel = await ofThisFile(openFunnel(call, instance.postgresUrl()), ({ close }) => close());

const PHONE = { width: 390, height: 844 };
const PICTURES = '.cache/widget-pictures';
const WITHIN = { timeout: 20_000 };
/** What was changed before is painted then. */
const TWO_FRAMES = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';
const LAYOUT_SHIFT = `(() => {
  const observer = new PerformanceObserver(() => undefined);
  observer.observe({ type: 'layout-shift', buffered: true });
  return observer.takeRecords().reduce((sum, { value }) => sum + value, 0);
})()`;

const open = (url: string, options: BrowserContextOptions = {}) => openWatched(browser, url, options);
const sample = () => site.sample({ pk_live_YOUR_KEY: keys.live.publishable });
const element = (attributes: string, inside = '') =>
  `<metergate-pricing key="${keys.live.publishable}" ${attributes}>${inside}</metergate-pricing>`;

describe('the sample of the documentation, on another origin', () => {
  it('shows the published plans in their order, and breaks no rule of its policy', async () => {
    const { page, errors, warnings } = await open(sample());
    expect(await textsOf(page, '[part="name"]')).toEqual(['Starter', 'Pro', 'Scale']);
    expect(await textsOf(page, '[part="price"]')).toEqual([
      '€0 / month',
      '€1,234.50 / month',
      '€4,900 / month',
    ]);
    expect(await textsOf(page, '[part="prices"]')).toEqual([
      '',
      '€0.00125 / calls, 100,000 included',
      '€12 / Seats from €0.0004 / calls',
    ]);
    expect(await textsOf(page, '[part="action"]')).toEqual([
      'Choose plan',
      'Start free trial',
      'Choose plan',
    ]);
    expect((await textsOf(page, '[part="entitlements"]'))[2]).toBe(
      'API calls Unlimited Seats Unlimited Single sign-on ✓ included',
    );
    await page.getByText('Most teams choose this one.').waitFor();
    await page.getByText('Prices cannot be shown right now.').waitFor({ state: 'hidden' });
    expect([errors, warnings]).toEqual([[], []]);
    expect(await page.context().cookies()).toEqual([]);
    const kept = await page.evaluate('localStorage.length + sessionStorage.length');
    expect(kept).toBe(0);
  });

  it('switches the interval, by mouse and by keyboard', async () => {
    const { page } = await open(sample());
    const prices = () => textsOf(page, '[part="price"]');
    await page.getByRole('radio', { name: 'Yearly' }).check();
    const yearly = ['€0 / month', '€12,345 / year Save 16%', '€49,000 / year Save 16%'];
    await expect.poll(prices, WITHIN).toEqual(yearly);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(async () => (await prices())[1], WITHIN).toBe('€1,234.50 / month');
    await page.getByRole('radio', { name: 'Monthly', checked: true }).waitFor();
  });

  it.each([
    ['en-US', ['€0 / month', '€1,234.50 / month', '€4,900 / month']],
    ['de-DE', ['0 € / Monat', '1.234,50 € / Monat', '4.900 € / Monat']],
  ])('writes money as readers of %s do', async (locale, prices) => {
    const byPage = await open(site.page(element(''), locale));
    expect(await textsOf(byPage.page, '[part="price"]')).toEqual(prices);
    const byBrowser = await open(site.page(element(''), ''), { locale });
    expect(await textsOf(byBrowser.page, '[part="price"]')).toEqual(prices);
    const byAttribute = await open(site.page(element(`locale="${locale}"`)));
    expect(await textsOf(byAttribute.page, '[part="price"]')).toEqual(prices);
  });
});

describe('the funnel', () => {
  it('counts a view once, when it is seen, and a session through to its subscription', async () => {
    const before = await funnel.stages();
    const spacer = '<svg width="10" height="3000"></svg>';
    const attributes = 'plan-url="/checkout?plan={planKey}&interval={interval}#pay" interval="year"';
    const { page, reports } = await open(site.page(spacer + element(attributes) + spacer));
    await textsOf(page, '[part="name"]');
    expect(reports).toEqual([]);
    for (const _ of [1, 2, 3]) {
      await page.locator(CARD).first().scrollIntoViewIfNeeded();
      await expect.poll(() => reports.length, WITHIN).toBe(1);
      await page.evaluate('scrollTo(0, 0)');
    }
    await page.locator(CARD).first().scrollIntoViewIfNeeded();
    await page.evaluate(`document.querySelector('metergate-pricing').setAttribute('featured', 'pro')`);
    await page.locator('[part~="plan-featured"]').waitFor();
    // What is new in the document has been looked at by then.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await page.getByRole('radio', { name: 'Monthly' }).check();
    await page.getByRole('link', { name: 'Start free trial' }).click();
    await page.waitForURL('**/checkout**');
    const arrived = new URL(page.url());
    const sessionId = arrived.searchParams.get('sessionId') ?? '';
    expect(`${arrived.pathname}${arrived.search}${arrived.hash}`).toBe(
      `/checkout?plan=pro&interval=month&sessionId=${sessionId}#pay`,
    );
    expect(sessionId).toMatch(/^mount-[0-9a-f]{32}$/);
    await expect
      .poll(() => reports, WITHIN)
      .toEqual([
        { event: 'widget_view', sessionId },
        { event: 'checkout_started', planId: planIds.pro, sessionId },
      ]);
    const added = async (stage: string) => ((await funnel.stages())[stage] ?? 0) - (before[stage] ?? 0);
    await expect.poll(() => added('checkout_started'), WITHIN).toBe(1);
    await expect.poll(() => funnel.viewsOf(sessionId), WITHIN).toBe(1);
    expect(await added('activated')).toBe(0);
    const customer = { name: 'Ada', email: 'ada@example.com', externalId: `of-${sessionId}` };
    await call('POST', '/customers', customer);
    await call('POST', '/subscriptions', {
      customerId: customer.externalId,
      planId: 'pro',
      metadata: { sessionId },
    });
    expect(await added('activated')).toBe(1);
  });

  it('gives the page a cancelable event with the session', async () => {
    const { page, reports } = await open(site.page(element('plan-url="/buy/{planId}/{sessionId}"')));
    await textsOf(page, '[part="name"]');
    await page.evaluate(`addEventListener('metergate:select', (event) => {
      event.preventDefault();
      globalThis.selected = { ...event.detail, own: event.target.sessionId, reports: globalThis.reports };
    });
    globalThis.reports = 0;
    const send = navigator.sendBeacon.bind(navigator);
    navigator.sendBeacon = (...report) => { globalThis.reports += 1; return send(...report); };`);
    const address = page.url();
    await page.getByRole('link', { name: 'Start free trial' }).click();
    await expect.poll(() => page.evaluate('globalThis.selected'), WITHIN).toBeDefined();
    const selected = (await page.evaluate('globalThis.selected')) as Record<string, string>;
    // By then the server knows, or a subscription that the page makes at once would be before its checkout.
    expect(selected.reports).toBe(1);
    const { sessionId, own, url } = selected;
    expect(selected).toMatchObject({
      ...{ planId: planIds.pro, planKey: 'pro', interval: 'month', currency: 'EUR', scenario: 'new' },
    });
    expect([own, url]).toEqual([sessionId, `/buy/${planIds.pro}/${sessionId}`]);
    expect(page.url()).toBe(address);
    const other = await open(site.page(element('')));
    await expect.poll(() => other.reports.length, WITHIN).toBe(1);
    expect(other.reports[0]?.sessionId).not.toBe(sessionId);
    await expect.poll(() => reports.map(({ event }) => event), WITHIN).toContain('checkout_started');
  });
});

describe('a widget without anything to show', () => {
  it.each([
    ['an unknown key', () => `pk_live_${'0'.repeat(38)}`, /key is unknown/],
    ['no key', () => '', /key is missing/],
    ['no plans', () => keys.test.publishable, /no published plan/],
  ])('for %s shows its own children, with one warning', async (_, key, why) => {
    const inside = '<p>Ask us for prices.</p>';
    const body = `<metergate-pricing key="${key()}">${inside}</metergate-pricing>`;
    const { page, warnings, reports } = await open(site.page(body));
    await page.getByText('Ask us for prices.').waitFor();
    await page.evaluate(`document.querySelector('metergate-pricing').setAttribute('currency', 'EUR')`);
    await page.getByText('Ask us for prices.').waitFor();
    await expect.poll(() => warnings, WITHIN).toEqual([expect.stringMatching(why)]);
    expect(await page.locator(CARD).count()).toBe(0);
    expect(reports).toEqual([]);
  });

  it('shows the plans as soon as it is given a key', async () => {
    const { page } = await open(site.page('<metergate-pricing></metergate-pricing>'));
    const set = `document.querySelector('metergate-pricing').setAttribute('key', '${keys.live.publishable}')`;
    await page.evaluate(set);
    expect(await textsOf(page, '[part="name"]')).toHaveLength(3);
  });
});

describe('with a customer token', () => {
  it('marks the plan of the customer, and names what the others would be', async () => {
    const customer = { name: 'Bo', email: 'bo@example.com', externalId: 'bo' };
    await call('POST', '/customers', customer);
    await call('POST', '/subscriptions', { customerId: 'bo', planId: 'pro' });
    const { token } = await call<{ token: string }>('POST', '/customer-tokens', { customerId: 'bo' });
    const { page, warnings, errors } = await open(site.page(element(`token="${token}" heading-level="2"`)));
    expect(await textsOf(page, '[part="action"], [part="status"]')).toEqual([
      'Downgrade',
      'Current plan',
      'Upgrade',
    ]);
    await page.locator('[part~="plan-current"] [part="name"]').getByText('Pro', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect([warnings, errors]).toEqual([[], []]);
    const ended = await open(site.page(element('token="ct_live_x.y"')));
    expect(await textsOf(ended.page, '[part="action"]')).toHaveLength(3);
    await expect.poll(() => ended.warnings, WITHIN).toEqual([expect.stringMatching(/token is unknown/)]);
  });

  it('the usage widget shows what is used, and reports a token that has ended', async () => {
    const usage = [
      { idempotencyKey: 'w-1', customerId: 'bo', meterId: 'calls', value: 83_000 },
      { idempotencyKey: 'w-2', customerId: 'bo', meterId: 'calls', value: 456.5 },
    ];
    await call('POST', '/usage/events/batch', { events: usage });
    await call('GET', '/entitlements/bo/calls?consistency=strong');
    const { token } = await call<{ token: string }>('POST', '/customer-tokens', {
      ...{ customerId: 'bo', expiresInSeconds: 600 },
    });
    const widget = (feature: string) =>
      `<metergate-usage token="${token}" feature="${feature}">No usage.</metergate-usage>`;
    const body = ['calls', 'seats', 'sso', 'unheard-of'].map(widget).join('');
    const { page, warnings } = await open(site.page(body, 'de-DE'));
    const amounts = page.locator('metergate-usage [part="amount"]');
    await expect
      .poll(() => amounts.allInnerTexts(), WITHIN)
      .toEqual(['83.456,5 of 100.000', 'Up to 25', 'Included']);
    const meter = page.getByRole('meter');
    await expect.poll(() => meter.getAttribute('aria-valuenow'), WITHIN).toBe('83');
    await expect.poll(() => page.locator('[part~="bar-near"]').count(), WITHIN).toBe(1);
    expect(await violations(page)).toEqual([]);
    await page.getByText('No usage.').last().waitFor();
    await expect.poll(() => warnings, WITHIN).toHaveLength(1);
    await page.evaluate(`addEventListener('metergate:token-ended', () => (globalThis.ended = true))`);
    await page.evaluate(`document.querySelector('metergate-usage').setAttribute('token', 'ct_live_x.y')`);
    await expect.poll(() => page.evaluate('globalThis.ended'), WITHIN).toBe(true);
  });
});

describe('what a page notices', () => {
  it.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const)('is no shift of its layout after the first paint, on a %s', async (_, viewport) => {
    const context = await browser.newContext({ viewport });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const painted = deferred<void>();
    await page.route('**/api/v1/pricing**', async (route) => {
      await painted.promise;
      await route.continue();
    });
    await page.goto(sample());
    await page.evaluate(TWO_FRAMES);
    expect(await page.locator('[part="amount"]').count()).toBe(0);
    painted.resolve();
    await page.locator('[part="amount"]').nth(2).waitFor();
    await page.evaluate(TWO_FRAMES);
    expect(await page.evaluate(LAYOUT_SHIFT)).toBe(0);
  });

  it.each(['light', 'dark'] as const)('is accessible and fits its width in %s', async (colorScheme) => {
    for (const [device, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      const { page } = await open(sample(), { viewport, colorScheme });
      await textsOf(page, '[part="name"]');
      await page.screenshot({ path: `${PICTURES}/pricing-${device}-${colorScheme}.png`, fullPage: true });
      expect(await violations(page), device).toEqual([]);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(viewport.width);
    }
  });
});

it('the demo page shows the plans of the demo workspace in test mode, under a strict policy', async () => {
  const empty = await open(`${origin}/demo/pricing`);
  await empty.page.getByText('has no published plan yet').waitFor();
  await makeCatalogue(origin, keys.test.secret);
  const { page, errors, warnings } = await open(`${origin}/demo/pricing`);
  expect(await textsOf(page, '[part="name"]')).toEqual(['Starter', 'Pro', 'Scale']);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Start free trial' }).click();
  await page.getByText('You chose pro (month, EUR)').waitFor();
  await page.screenshot({ path: `${PICTURES}/demo.png`, fullPage: true });
  expect([errors, warnings]).toEqual([[], []]);
  const policy = (await fetch(`${origin}/demo/pricing`)).headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
});
