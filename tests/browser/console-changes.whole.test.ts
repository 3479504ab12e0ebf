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
const { seeded, open } = await consoleOfThisFile();
const [customer = ''] = seeded.customers;
const plan = `#/catalogue/${seeded.planId}`;
const endpoint = `#/webhooks/${seeded.endpointId}`;

async function openAt(address: string) {
  const watched = await open();
  onTestFinished(() => watched.context.close());
  await show(watched.page, address);
  return watched;
}

/** Every way to change something: where it is, how it is reached, and the button that confirms it. */
const CHANGES: ReadonlyArray<readonly [what: string, address: string, reach: Reach, verb: string]> = [
  ['archive a customer', `#/customers/${customer}`, press('Archive'), 'Archive'],
  ['remove an override', `#/customers/${customer}`, press('Remove'), 'Remove override'],
  ['override a feature', `#/customers/${customer}`, override, 'Override'],
  [
    'cancel a subscription',
    `#/customers/${customer}?tab=subscriptions`,
    press('Cancel'),
    'Cancel subscription',
  ],
  ['grant credits', `#/customers/${customer}?tab=credits`, grant, 'Grant credits'],
  ['set a budget', `#/customers/${customer}?tab=usage&meter=calls`, setBudget, 'Set budget'],
  [
    'remove a budget',
    `#/customers/${customer}?tab=usage&meter=calls`,
    press('Remove budget'),
    'Remove budget',
  ],
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
    // Enter in a hurry is harmless.
    expect(await page.evaluate('document.activeElement.textContent')).toBe(
      verb === 'Cancel subscription' ? 'Keep it' : 'Cancel',
    );
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
  await show(page, '#/health');
  await show(page, address);
  await reach(page);
  await page.getByRole('dialog').waitFor();
}

describe('a change that is confirmed', () => {
  it('says how many subscriptions it touches, shows what differs, and is made once', async () => {
    const { page, changes } = await openAt(plan);
    await editEntitlement(page);
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toContain('3 subscriptions follow this plan');
    expect(await dialog.getByRole('table').textContent()).toContain('seats1540');
    await dialog.getByRole('button', { name: 'Change entitlements' }).dblclick();
    await page.getByText('Pro has new entitlements.').waitFor();
    expect(changes).toEqual([`PUT /api/v1/plans/${seeded.planId}/entitlements`]);
    const entitlements = page.getByRole('region', { name: 'Entitlements' });
    await entitlements.getByRole('row', { name: 'seats' }).getByText('40', { exact: true }).waitFor();
  });

  it('is rejected when the object has changed meanwhile, and says so', async () => {
    const first = await openAt(plan);
    const second = await openAt(plan);
    await press('Edit')(first.page);
    await press('Edit')(second.page);
    await setSeats(first.page, '41');
    await first.page.getByRole('dialog').getByRole('button', { name: 'Change entitlements' }).click();
    await first.page.getByText('Pro has new entitlements.').waitFor();
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
    const text = await dialog.locator('pre').textContent();
    expect(text).toContain(`/api/v1/webhooks/endpoints/${seeded.endpointId}/test`);
    expect(text).toContain('Bearer $METERGATE_KEY');
    expect(text).toContain('Idempotency-Key: console-');
  });
});

function press(name: string): Reach {
  return (page) => page.getByRole('main').getByRole('button', { name, exact: true }).first().click();
}

async function override(page: Page): Promise<void> {
  await page.getByRole('row', { name: 'Seats' }).getByRole('button', { name: 'Override' }).click();
  await page.getByLabel('Limit').fill('25');
  await page.getByRole('button', { name: 'Continue' }).click();
}

async function grant(page: Page): Promise<void> {
  await press('Grant credits')(page);
  await page.getByRole('textbox', { name: 'Credits' }).fill('12.5');
  await page.getByLabel('Reason').fill('Goodwill');
  await page.getByRole('button', { name: 'Continue' }).click();
}

async function setBudget(page: Page): Promise<void> {
  await press('Change budget')(page);
  await page.getByLabel('Hard threshold').fill('60,000');
  await page.getByRole('button', { name: 'Continue' }).click();
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
  const card = page.getByRole('region', { name: 'Prices' });
  await card.getByRole('button', { name: 'Edit' }).click();
  await card.getByRole('button', { name: 'Review' }).click();
  await card.getByText('Nothing is different yet.').waitFor();
  const field = card.getByLabel('as JSON');
  await field.fill((await field.inputValue()).replace('"amount": 49', '"amount": 59'));
  await card.getByRole('button', { name: 'Review' }).click();
}

async function addEndpoint(page: Page): Promise<void> {
  await press('Add endpoint')(page);
  await page.getByLabel('URL').fill('https://receiver.example/hooks');
  await page.getByRole('button', { name: 'Continue' }).click();
}
