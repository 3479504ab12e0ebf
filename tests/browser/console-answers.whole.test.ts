import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { consoleOfThisFile, show } from './console-under-test.ts';
import { caller } from './seed-console.ts';

/*
 * What a reader could take for something else: a share of another number, a filter that filters nothing, no
 * access that reads as no limit, a trail that leaves changes out, an object of the other mode.
 */
const { instance, seeded, open } = await consoleOfThisFile();
const call = caller(instance.origin, instance.keys().test.secret);
const [aurora = '', birch = ''] = seeded.customers;
const plan = `#/catalogue/${seeded.planId}`;

async function openAt(address: string): Promise<Page> {
  const { page, context } = await open();
  onTestFinished(() => context.close());
  await show(page, address);
  return page;
}

const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

describe('the overview', () => {
  it('shows the budget that a share is of, and leads to all levels', async () => {
    await call('PUT', `/customers/${birch}/budgets/calls`, { hard: 500 });
    const page = await openAt('#/overview');
    const row = card(page, 'Near or over a limit').getByRole('row', { name: 'Birch & Co' });
    await row.getByText('of 500 budget').waitFor({ timeout: 60_000 });
    await page.getByRole('link', { name: 'All levels' }).click();
    await page.getByRole('heading', { name: 'Limits and budgets' }).waitFor();
    await page.getByLabel('Used at least').selectOption('1');
    await card(page, 'Used 100% or more').getByRole('link', { name: 'Birch & Co' }).waitFor();
    await page.getByLabel('Feature').selectOption('api');
    await card(page, 'Used 100% or more').getByRole('link', { name: 'Birch & Co' }).waitFor();
  });

  it('has no rate of events before it has watched them', async () => {
    const page = await openAt('#/overview');
    const figure = page.locator('.figure', { hasText: 'Events per second' });
    await figure.getByText('…', { exact: true }).waitFor();
    await call('POST', '/usage/events', {
      ...{ customerId: aurora, meterId: 'calls', value: 1, idempotencyKey: 'rate-1' },
    });
    await expect
      .poll(async () => (await figure.locator('dd').textContent()) ?? '', { timeout: 60_000 })
      .toMatch(/^0(\.\d+)?accepted/);
  });

  it('leads to the subscriptions that are past due', async () => {
    const { data } = await call<{ data: Array<{ id: string }> }>('GET', `/subscriptions?customerId=${birch}`);
    await call('PATCH', `/subscriptions/${data[0]?.id}`, { status: 'past_due' });
    const page = await openAt('#/overview');
    await page.getByRole('link', { name: 'Subscriptions not paid' }).click();
    await card(page, 'Subscriptions: Past due').getByRole('link', { name: 'Birch & Co' }).waitFor();
  });
});

describe('a customer', () => {
  it('is found by its id', async () => {
    const { id } = await call<{ id: string }>('GET', `/customers/${aurora}`);
    const page = await openAt(`#/customers?q=${id}`);
    await card(page, `Customers with “${id}”`).getByRole('link', { name: 'Aurora Labs' }).waitFor();
  });

  it('has in its trail what was changed of what it has', async () => {
    const page = await openAt(`#/customers/${aurora}?tab=audit`);
    for (const action of ['credits.grant', 'overrides.put', 'budgets.put', 'subscriptions.create']) {
      await page.getByText(action, { exact: true }).first().waitFor();
    }
    await page.getByText('customers.create', { exact: true }).waitFor();
  });

  it('without a subscription has no access, which is not no limit', async () => {
    const nobody = { name: 'Nobody', email: 'nobody@example.com', externalId: 'nobody' };
    await call('POST', '/customers', nobody);
    const page = await openAt('#/customers/nobody?tab=usage');
    const counters = card(page, 'Counters of the current period');
    await counters.getByRole('row', { name: 'calls' }).getByText('No access').waitFor();
    await counters.getByRole('row', { name: 'storage' }).getByText('Not limited').waitFor();
    await counters.getByRole('link', { name: 'calls' }).click();
    const decisions = card(page, 'May they use calls, and why');
    await decisions.getByText('The customer has no active subscription.').waitFor();
  });

  it('is left for the list when the reader goes to the other mode', async () => {
    const page = await openAt(`#/customers/${aurora}?tab=usage`);
    await page.getByRole('button', { name: 'Go to live' }).click();
    await page.getByLabel('Secret key').fill(instance.keys().live.secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Customers', exact: true }).waitFor();
    // Nothing is there yet: the request that makes the first one.
    await page.getByText('There is no customer in this mode yet.').waitFor();
    await page.getByText("-X POST '").waitFor();
    expect(new URL(page.url()).hash).toBe('#/customers');
  });
});

describe('a meter', () => {
  it('says what is wrong with a filter, and shows nothing by it', async () => {
    const page = await openAt('#/meters/calls?filter=Foxglove');
    await page.getByText('Write a property and its value').waitFor();
    await page.getByRole('img').waitFor({ state: 'detached' });
    await page.getByLabel('Only where').fill('region=eu');
    await page.getByRole('img', { name: 'calls over time' }).waitFor();
  });

  it('says that no event has the property', async () => {
    const page = await openAt('#/meters/calls?group=shape');
    await page.getByText('No event in this time has the property').waitFor();
  });

  it('gives what it is compared with in the same file', async () => {
    const page = await openAt('#/meters/calls?compare=before&range=7-days');
    await page.getByText('the time before').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines[0]).toMatch(/^from,to,total,count/);
    expect(lines).toHaveLength(1 + 7 + 7);
    expect(lines.filter((line) => line.startsWith('from'))).toHaveLength(1);
  });
});

describe('a plan', () => {
  it('compares its newest version with the one before, also after a change', async () => {
    const page = await openAt(plan);
    await page.getByRole('button', { name: 'Edit' }).first().click();
    await page.getByLabel('Limit of Seats').fill('ten');
    await page.getByRole('button', { name: 'Review' }).first().click();
    await page.getByText('Seats: Enter a number of at least 0').waitFor();
    await page.getByLabel('Limit of Seats').fill('60,000');
    await page.getByRole('button', { name: 'Review 1 changed' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change entitlements' }).click();
    await page.getByText('Pro has new entitlements.').waitFor();
    const versions = card(page, 'Versions');
    await versions.getByRole('row', { name: 'seats' }).getByText('60,000', { exact: true }).waitFor();
  });

  it('shows the prices before and after, and the line that is no JSON', async () => {
    const page = await openAt(plan);
    const prices = card(page, 'Prices');
    await prices.getByRole('button', { name: 'Edit' }).click();
    const field = page.getByLabel('Prices of Pro as JSON');
    const text = await field.inputValue();
    await field.fill(text.replace('"amount": 49', '"amount": 59,'));
    await prices.getByRole('button', { name: 'Review' }).click();
    await prices.getByText(/^Line \d+ is where this stops being JSON/).waitFor();
    await field.fill(text.replace('"amount": 49', '"amount": 59'));
    await prices.getByRole('button', { name: 'Review' }).click();
    const row = page.getByRole('dialog').getByRole('row', { name: 'price base' });
    await row.getByText('every month: €59.00').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  });
});
