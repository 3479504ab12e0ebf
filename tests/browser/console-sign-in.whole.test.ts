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

async function visit(path = '/console') {
  const watched = await openPage(browser, { origin: instance.origin });
  onTestFinished(() => watched.context.close());
  await watched.page.goto(`${instance.origin}${path}`);
  return watched;
}

async function signInWith(key: string) {
  const watched = await visit();
  await watched.page.getByLabel('Secret key').fill(key);
  await watched.page.getByRole('button', { name: 'Sign in' }).click();
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
    const { page } = await signInWith(key);
    const fault = page.locator('.field-error');
    await fault.waitFor();
    expect(await fault.textContent()).toContain(message);
    expect(await fault.textContent()).toContain('sk_live_ or sk_test_');
    expect(await page.locator('.frame').count()).toBe(0);
  });

  it('takes a secret key, with the Enter key', async () => {
    const { page, faults } = await visit();
    await page.keyboard.type(test.secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('takes the key of a link, and takes it out of the address', async () => {
    const { page } = await visit(`/console#key=${test.secret}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${instance.origin}/console#/`);
  });

  it('is where the link leads that the first start prints', async () => {
    const [link = ''] = /http:\S+\/console#key=\S+/.exec(instance.written()) ?? [];
    expect(link).toBe(`${instance.origin}/console#key=${test.secret}`);
  });
});

describe('the key', () => {
  it('is kept for this tab alone, and goes to the API of this origin alone', async () => {
    const { page, context } = await visit();
    const sent: string[] = [];
    page.on('request', (request) => {
      const { authorization } = request.headers();
      if (authorization !== undefined) sent.push(new URL(request.url()).pathname);
      expect(request.url()).not.toContain(test.secret);
    });
    await page.getByLabel('Secret key').fill(test.secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await settled(page);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.filter((path) => !/^\/(api\/v1\/|graphql$|readyz$|metrics$)/.test(path))).toEqual([]);
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).toContain(test.secret);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('sk_');
    expect(await context.cookies()).toEqual([]);
    const other = await context.newPage();
    await other.goto(`${instance.origin}/console`);
    await other.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  });

  it('is forgotten at the sign-out', async () => {
    const { page } = await open();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('sk_');
  });

  it('is not in the requests that the console shows', async () => {
    const { page } = await open();
    await page.getByRole('button', { name: 'Requests' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('curl').first().waitFor();
    const text = (await dialog.textContent()) ?? '';
    expect(text).toContain('Bearer $METERGATE_KEY');
    expect(text).not.toContain(test.secret);
  });
});

describe('the mode', () => {
  it('is a band of another colour with its word, and each has a key of its own', async () => {
    const { page } = await open();
    const band = page.getByRole('region', { name: 'Mode' });
    const colour = () => page.evaluate("getComputedStyle(document.querySelector('.band')).backgroundColor");
    expect(await band.textContent()).toContain('Test mode');
    const testColour = await colour();
    await page.getByRole('button', { name: 'Go to live' }).click();
    await page.getByLabel('Secret key').fill(live.secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    // The sign-in says "live mode" too.
    await band.getByText('Live mode').waitFor();
    expect(await colour()).not.toBe(testColour);
    // The customers are those of test mode.
    await page.getByRole('link', { name: 'Customers' }).click();
    await page.getByText('There is no customer yet.').waitFor();
    await page.getByRole('button', { name: 'Go to test' }).click();
    await page.getByText('Aurora Labs').waitFor();
  });
});
