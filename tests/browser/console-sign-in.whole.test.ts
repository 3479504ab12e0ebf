import { describe, expect, it, onTestFinished } from 'vitest';
import { openPage } from './browser.ts';
import { consoleOfThisFile, settled } from './console-under-test.ts';

/*
 * Signing in, and where the key goes.
 *
 * Red with: a key in localStorage or left in the address; a key that is sent with a request to the page
 * itself; one message for every wrong key; a band that is the same in both modes.
 */
const { instance, browser, open } = await consoleOfThisFile();
const { live, test } = instance.keys();

async function visit() {
  const watched = await openPage(browser, { origin: instance.origin });
  onTestFinished(() => watched.context.close());
  await watched.page.goto(`${instance.origin}/console`);
  return watched;
}

async function openSignedIn() {
  const watched = await open();
  onTestFinished(() => watched.context.close());
  return watched;
}

describe('the sign-in', () => {
  it.each([
    ['nothing', '', 'Enter a key. It needs a secret key'],
    ['a publishable key', live.publishable, 'This is a publishable key'],
    ['the token of a customer', 'ct_abc', 'This is the token of one customer'],
    ['any other text', 'hunter2', 'This is no key of Metergate'],
    ['a key that is misspelt', `${test.secret.slice(0, -1)}_`, 'It needs a secret key'],
    ['a key that no workspace has', `sk_test_${'a'.repeat(38)}`, 'It needs a secret key'],
  ])('rejects %s, and says which key it needs', async (_, key, message) => {
    const { page } = await visit();
    await page.getByLabel('Secret key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const fault = page.locator('.field-error').filter({ hasText: message });
    await fault.filter({ hasText: 'sk_live_ or sk_test_' }).waitFor();
    expect(await page.locator('.frame').count()).toBe(0);
  });

  it('takes a secret key, with the Enter key', async () => {
    const { page, faults } = await visit();
    await page.getByLabel('Secret key').fill(test.secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
    await settled(page);
    expect(faults).toEqual([]);
  });
});

describe('the key', () => {
  it('is kept for this tab alone, and goes to the API of this origin alone', async () => {
    const { page, context } = await visit();
    const sent: string[] = [];
    const leaking: string[] = [];
    page.on('request', (request) => {
      const { authorization } = request.headers();
      if (authorization !== undefined) sent.push(new URL(request.url()).pathname);
      if (request.url().includes(test.secret)) leaking.push(request.url());
    });
    await page.getByLabel('Secret key').fill(test.secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
    await settled(page);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.filter((path) => !/^\/(api\/v1\/|graphql$|readyz$|metrics$)/.test(path))).toEqual([]);
    expect(leaking).toEqual([]);
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).toContain(test.secret);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('sk_');
    expect(await context.cookies()).toEqual([]);
    const other = await context.newPage();
    await other.goto(`${instance.origin}/console`);
    await other.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  });

  it('is forgotten at the sign-out', async () => {
    const { page } = await openSignedIn();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('sk_');
  });

  it('is not in the requests that the console shows', async () => {
    const { page } = await openSignedIn();
    await page.getByRole('button', { name: 'Requests' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Bearer $METERGATE_KEY').first().waitFor();
    expect(await dialog.textContent()).not.toContain(test.secret);
  });
});

describe('the mode', () => {
  it('is a band of another colour with its word, and each has a key of its own', async () => {
    const { page } = await openSignedIn();
    const band = page.getByRole('region', { name: 'Mode', exact: true });
    const colour = () => page.evaluate("getComputedStyle(document.querySelector('.band')).backgroundColor");
    await band.getByText('Test mode', { exact: true }).waitFor();
    const testColour = await colour();
    await page.getByRole('button', { name: 'Go to live' }).click();
    await page.getByLabel('Secret key').fill(live.secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await band.getByText('Live mode', { exact: true }).waitFor();
    expect(await colour()).not.toBe(testColour);
    // The customers are those of test mode.
    await page.getByRole('link', { name: 'Customers', exact: true }).click();
    await page.getByText('There is no customer yet.').waitFor();
    await page.getByRole('button', { name: 'Go to test' }).click();
    await page.getByRole('link', { name: 'Willow Housing' }).waitFor();
  });
});
