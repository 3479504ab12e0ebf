import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { consoleOfThisFile } from './console-under-test.ts';

/*
 * What people come for, from the sign-in on, by what they read: why a customer is denied a feature, which one
 * is over a limit, which webhook fails and its replay, the usage of a customer by region as a file.
 *
 * Red with: features that no plan of the customer has left out of the list; a CSV of what was shown before.
 */
const { call, open } = await consoleOfThisFile();

async function openSignedIn(): Promise<Page> {
  const { page, context } = await open();
  onTestFinished(() => context.close());
  return page;
}

describe('a reader finds', () => {
  it('why a customer is denied a feature', async () => {
    const page = await openSignedIn();
    await page.getByRole('link', { name: 'Customers', exact: true }).click();
    await page.getByLabel('Search').fill('baltic');
    await page.getByRole('link', { name: 'Baltic Freight', exact: true }).click();
    const row = page.getByRole('row', { name: 'Single sign-on' });
    await row.getByText('Not included', { exact: true }).waitFor();
    await row.getByText('feature_not_included', { exact: true }).waitFor();
  });

  it('who is near or over a limit', async () => {
    const page = await openSignedIn();
    const card = page.getByRole('region', { name: 'Near or over a limit' });
    await card.getByRole('link', { name: 'Cascade Robotics', exact: true }).click();
    await page.getByRole('heading', { name: 'api-calls by day', exact: true }).waitFor();
  });

  it('which endpoint fails, sends one delivery again, and how that ended', async () => {
    const page = await openSignedIn();
    const card = page.getByRole('region', { name: 'Webhook endpoints', exact: true });
    const row = card.getByRole('row', { name: '/billing' });
    await row.getByText(/\d+ not delivered/).waitFor();
    await row.getByRole('link').click();
    await page.getByRole('button', { name: 'Replay', exact: true }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('The delivery is on its way again.', { exact: true }).waitFor();
    await page.getByText(/^The attempt failed\. No connection: /).waitFor();
  });

  it('why nothing can be replayed to an endpoint, and enables it first', async () => {
    const page = await openSignedIn();
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page
      .getByRole('row')
      .filter({ hasText: 'It was disabled by a request' })
      .getByRole('link')
      .first()
      .click();
    await page
      .getByRole('button', { name: 'Replay failed and held', exact: true })
      .and(page.locator(':disabled'))
      .waitFor();
    await page.getByRole('cell').getByRole('button', { name: 'Enable', exact: true }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/Nothing can be sent or replayed to it/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  });

  it('that webhooks fail while all else works', async () => {
    const page = await openSignedIn();
    await page.getByRole('link', { name: 'Health', exact: true }).click();
    await page.getByText('Works, webhooks fail', { exact: true }).waitFor();
    await page.getByText(/Webhook endpoints: 1 fails/).waitFor();
  });

  it('the usage of one customer by region, as a file', async () => {
    const page = await openSignedIn();
    await page.getByRole('link', { name: 'Customers', exact: true }).click();
    await page.getByLabel('Search').fill('aurora');
    await page.getByRole('link', { name: 'Aurora Analytics', exact: true }).click();
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('link', { name: 'api-calls', exact: true }).click();
    await page.getByLabel('Time', { exact: true }).selectOption('30-days');
    await page.getByRole('button', { name: 'region', exact: true }).click();
    await page.getByRole('cell', { name: 'ap-south', exact: true }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^usage-aurora-api-calls-by-region-[\d-]+\.csv$/);
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    const header = 'customer_id,external_id,customer,meter,from,to,region,total,events,credit_cost';
    expect(lines[0]).toBe(header);
    expect(lines[1]).toMatch(/^cus_\w+,aurora,Aurora Analytics,api-calls,\S+Z,\S+Z,[\w-]+,/);
    const regions = lines.slice(1).map((line) => line.split(',')[6]);
    expect(regions).toEqual(expect.arrayContaining(['eu-west', 'us-east']));
  });

  it('an event that is sent now, without a step', async () => {
    const page = await openSignedIn();
    await page.getByRole('link', { name: 'Events' }).click();
    const card = page.getByRole('region', { name: 'As they are counted', exact: true });
    await card.getByText('Live', { exact: true }).waitFor();
    await call('POST', '/usage/events', {
      ...{ customerId: 'ember', meterId: 'api-calls', value: 4321, properties: { region: 'mars' } },
      idempotencyKey: 'watched-1',
    });
    const row = page.getByRole('row', { name: 'region: mars' });
    await row.getByText('4,321').waitFor();
    await row.getByRole('link', { name: 'Ember Games' }).waitFor();
    await card.getByRole('button', { name: 'Pause' }).click();
    await card.getByText('Paused', { exact: true }).waitFor();
  });

  it('one event by its idempotency key or id, with the request that finds it', async () => {
    const idempotencyKey = 'Sought + found';
    const sent = { customerId: 'ember', meterId: 'api-calls', value: 8765, idempotencyKey };
    const { id } = await call<{ id: string }>('POST', '/usage/events', sent);
    const counted = async () => (await call<{ data: unknown[] }>('GET', `/usage/events?id=${id}`)).data;
    await expect.poll(counted, { timeout: 30_000 }).toHaveLength(1);
    const page = await openSignedIn();
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByRole('link', { name: 'Find' }).click();
    const field = page.getByLabel('Idempotency key or event id');
    await field.fill('never sent');
    await page.getByText('No event with this key or id was counted').waitFor();
    for (const text of [idempotencyKey, id]) {
      await field.fill(text);
      const row = page.getByRole('table', { name: 'with this key or id' }).getByRole('row', { name: id });
      await row.getByText('8,765').waitFor();
      await row.getByRole('link', { name: 'Ember Games' }).waitFor();
    }
    await page.getByRole('button', { name: /Requests/ }).click();
    await page.getByText(`/api/v1/usage/events?id=${id}`).first().waitFor();
  });

  it('events of a customer that have a text', async () => {
    const page = await openSignedIn();
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByRole('link', { name: 'Find' }).click();
    await page.getByLabel('Customer', { exact: true }).fill('aurora');
    await page.getByLabel('Meter', { exact: true }).selectOption('api-calls');
    const first = page.getByRole('row').nth(1).locator('code');
    await first.waitFor();
    const id = (await first.textContent()) ?? '';
    await page.getByLabel('Only with this text').fill(id);
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByRole('row').getByText(id, { exact: true }).waitFor();
  });
});

describe('the keyboard alone', () => {
  it('reaches the content at once, and every screen from the menu of a phone', async () => {
    const { page, context } = await open({ width: 390 });
    onTestFinished(() => context.close());
    // As one that comes back to the tab.
    await page.reload();
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('MAIN');
    await page.getByRole('button', { name: 'Menu' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Health', exact: true }).focus();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Health', exact: true }).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Menu' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Health', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Health', exact: true }).waitFor();
    // The menu is closed, and the screen has the focus.
    await page.getByRole('link', { name: 'Health', exact: true }).waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('MAIN');
  });
});
