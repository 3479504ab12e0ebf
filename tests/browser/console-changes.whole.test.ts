import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { consoleOfThisFile, show } from './console-under-test.ts';

/*
 * What changes something asks first: no request is sent before the reader confirms it, none at all when the
 * reader cancels, and one when it is confirmed twice.
 *
 * Red with: a request that is sent when the dialog opens; a dialog whose first focus is on its dangerous
 * button; a stale object that is overwritten.
 */
const { demo, open } = await consoleOfThisFile();
/** Has an override. */
const customer = '#/customers/juniper';
/** Of a customer that has one. */
const budget = '#/customers/foxglove?tab=usage&meter=api-calls';
const plan = '#/catalogue/business';
const endpoint = `#/webhooks/${demo.endpointId}`;

async function openAt(address: string) {
  const watched = await open();
  onTestFinished(() => watched.context.close());
  await show(watched.page, address);
  return watched;
}

/** Every way to change something: where it is, how it is reached, and the button that confirms it. */
const CHANGES: ReadonlyArray<readonly [what: string, address: string, reach: Reach, verb: string]> = [
  ['archive a customer', customer, press('Archive'), 'Archive'],
  ['remove an override', customer, press('Remove'), 'Remove override'],
  ['override a feature', customer, override, 'Override'],
  ['cancel a subscription', `${customer}?tab=subscriptions`, press('Cancel'), 'Cancel subscription'],
  ['grant credits', `${customer}?tab=credits`, grant, 'Grant credits'],
  ['set a budget', budget, setBudget, 'Set budget'],
  ['remove a budget', budget, press('Remove budget'), 'Remove budget'],
  ['archive a plan', plan, press('Archive'), 'Archive'],
  ["change a plan's entitlements", plan, editEntitlement, 'Change entitlements'],
  ["replace a plan's prices", plan, editPrices, 'Replace prices'],
  ['add an endpoint', '#/webhooks', addEndpoint, 'Add endpoint'],
  ['disable an endpoint', endpoint, press('Disable'), 'Disable'],
  ['send a test event', endpoint, press('Send test event'), 'Send test event'],
  ['replay a delivery', endpoint, press('Replay'), 'Replay'],
  ['replay a period', endpoint, press('Replay failed and held'), 'Replay'],
];
type Reach = (page: Page) => Promise<void>;

describe('to', () => {
  it.each(CHANGES)('%s asks first, and canceling changes nothing', async (_, address, reach, verb) => {
    const { page, changes, faults } = await openAt(address);
    await reach(page);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: verb, exact: true }).waitFor();
    // Enter in a hurry is harmless: the focus is on the button that changes nothing.
    const focused = dialog.locator('button:focus');
    await focused.waitFor();
    expect(await focused.textContent()).not.toBe(verb);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await reachAgain(page, address, reach);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(changes).toEqual([]);
    expect(faults).toEqual([]);
  });
});

/** From the same screen, fresh: a form that is open has what was typed. */
async function reachAgain(page: Page, address: string, reach: Reach): Promise<void> {
  await show(page, '#/nowhere');
  await show(page, address);
  await reach(page);
  await page.getByRole('dialog').waitFor();
}

describe('a change that is confirmed', () => {
  it('says how many subscriptions it touches, shows what differs, and is made once', async () => {
    const { page, changes } = await openAt(plan);
    await editEntitlement(page);
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`${demo.business} subscriptions`, { exact: true }).waitFor();
    await dialog.getByText('follow this plan and get the change at once').waitFor();
    await dialog.getByRole('row', { name: 'seats 50 40', exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Change entitlements' }).dblclick();
    await page.getByText('Business has new entitlements.').waitFor();
    expect(changes).toEqual([expect.stringMatching(/^PUT \/api\/v1\/plans\/plan_\w+\/entitlements$/)]);
    const entitlements = page.getByRole('region', { name: 'Entitlements', exact: true });
    await entitlements.getByRole('row', { name: 'seats' }).getByText('40', { exact: true }).waitFor();
  });

  it('is rejected when the object has changed meanwhile, and says so', async () => {
    const first = await openAt(plan);
    const second = await openAt(plan);
    await press('Edit')(first.page);
    await press('Edit')(second.page);
    await setSeats(first.page, '41');
    await first.page.getByRole('dialog').getByRole('button', { name: 'Change entitlements' }).click();
    await first.page.getByText('Business has new entitlements.').waitFor();
    await setSeats(second.page, '42');
    const dialog = second.page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Change entitlements' }).click();
    await dialog.getByText('The object has changed since you read it.').waitFor();
  });

  it('shows the request that it sends, without the key', async () => {
    const { page } = await openAt(endpoint);
    await press('Send test event')(page);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The request that this sends').click();
    const request = dialog.locator('pre').filter({ hasText: 'Idempotency-Key: console-' });
    await request.waitFor();
    const text = await request.textContent();
    expect(text).toContain(`/api/v1/webhooks/endpoints/${demo.endpointId}/test`);
    expect(text).toContain('Bearer $METERGATE_KEY');
    expect(text).not.toContain('sk_');
  });
});

function press(name: string): Reach {
  return (page) => page.getByRole('main').getByRole('button', { name, exact: true }).first().click();
}

async function override(page: Page): Promise<void> {
  await page.getByRole('row', { name: 'Seats' }).getByRole('button', { name: 'Override' }).click();
  await page.getByLabel('Limit', { exact: true }).fill('25');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
}

async function grant(page: Page): Promise<void> {
  await press('Grant credits')(page);
  await page.getByRole('textbox', { name: 'Credits' }).fill('12.5');
  await page.getByLabel('Reason', { exact: true }).fill('Goodwill');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
}

async function setBudget(page: Page): Promise<void> {
  await press('Change budget')(page);
  await page.getByLabel('Hard threshold').fill('600,000');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
}

async function editEntitlement(page: Page): Promise<void> {
  await press('Edit')(page);
  await setSeats(page, '40');
}

async function setSeats(page: Page, limit: string): Promise<void> {
  await page.getByLabel('Limit of Seats').fill(limit);
  await page.getByRole('button', { name: 'Review 1 changed' }).click();
}

async function editPrices(page: Page): Promise<void> {
  const card = page.getByRole('region', { name: 'Prices', exact: true });
  await card.getByRole('button', { name: 'Edit' }).click();
  await card.getByRole('button', { name: 'Review' }).click();
  await card.getByText('Nothing is different yet.').waitFor();
  const field = card.getByLabel('as JSON');
  await field.fill((await field.inputValue()).replace('"amount": 249', '"amount": 259'));
  await card.getByRole('button', { name: 'Review' }).click();
}

async function addEndpoint(page: Page): Promise<void> {
  await press('Add endpoint')(page);
  await page.getByLabel('URL', { exact: true }).fill('https://receiver.example/hooks');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
}
