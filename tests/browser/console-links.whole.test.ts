import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DemoKeys } from '../support/instance.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { browserOfThisFile, openPage } from './browser.ts';

/*
 * Links with a key, which anyone can write: none takes a reader to another workspace unnoticed.
 *
 * Red with: a link that replaces a key; a question whose first focus is on following the link; a key that
 * stays in the address; keys of the workspace that was left; a notice that a reload removes.
 */
const run = promisify(execFile);
const instance = await instanceOfThisFile();
const browser = await browserOfThisFile();
const { live, test } = instance.keys();
const foreign = await createWorkspace('Mallory');

/** As an operator does. */
async function createWorkspace(name: string): Promise<DemoKeys> {
  const command = ['dist/app/admin/admin-command.js', 'workspace', 'create', '--name', name, '--json'];
  const env = { ...process.env, DATA_DIR: instance.dataDir };
  const { stdout } = await run(process.execPath, command, { env, timeout: 60_000 });
  return JSON.parse(stdout) as DemoKeys;
}

async function openLink(key: string) {
  const watched = await openPage(browser, { origin: instance.origin });
  onTestFinished(() => watched.context.close());
  await watched.page.goto(`${instance.origin}/console#key=${key}`);
  return watched;
}

/** A tab that is signed in to test mode of the demo, and then opens the link of another key. */
async function openSecondLink(key: string) {
  const watched = await openLink(test.secret);
  await watched.page.getByRole('button', { name: 'It is mine' }).click();
  await watched.page.evaluate(`location.hash = '#key=${key}'`);
  return watched;
}

function keysOf(page: Page): Promise<unknown> {
  return page.evaluate("JSON.parse(sessionStorage.getItem('metergate-console-keys')).keys");
}

const bandOf = (page: Page) => page.getByRole('region', { name: 'Mode', exact: true });

describe('in a tab without a key, a link', () => {
  it('signs in, and the first screen says where to until the reader confirms it', async () => {
    const { page, faults } = await openLink(foreign.test.secret);
    const notice = page.getByRole('region', { name: 'Sign-in by a link' });
    await notice.getByText('Mallory', { exact: true }).waitFor();
    await notice.getByText('test mode', { exact: true }).waitFor();
    await notice.getByText(foreign.workspaceId).waitFor();
    expect(page.url()).toBe(`${instance.origin}/console#/`);
    await page.reload();
    await notice.getByRole('button', { name: 'It is mine' }).click();
    await notice.waitFor({ state: 'detached' });
    await page.reload();
    await bandOf(page).getByText('Mallory').waitFor();
    expect(await notice.count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('can be undone at once', async () => {
    const { page } = await openLink(foreign.test.secret);
    await page
      .getByRole('region', { name: 'Sign-in by a link' })
      .getByRole('button', { name: 'Sign out' })
      .click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    expect(await keysOf(page)).toEqual({});
  });

  it.each([
    ['an unknown key', `sk_test_${'a'.repeat(38)}`, 'It needs a secret key'],
    ['no key at all', 'a key, <b>perhaps</b>', 'This is no key of Metergate'],
  ])('with %s is rejected, and its text is not left in the address', async (_, key, message) => {
    const { page } = await openLink(encodeURIComponent(key));
    await page.locator('.field-error').filter({ hasText: message }).waitFor();
    expect(page.url()).toBe(`${instance.origin}/console#/`);
  });

  it('is what the first start prints', async () => {
    const [link = ''] = /http:\S+\/console#key=\S+/.exec(instance.written()) ?? [];
    expect(link).toBe(`${instance.origin}/console#key=${test.secret}`);
  });
});

describe('in a tab that has a key, a link', () => {
  it('of another workspace asks first, and names both; Enter stays', async () => {
    const { page, changes } = await openSecondLink(foreign.live.secret);
    const title = 'Leave the workspace Demo and sign in with the key of this link?';
    await page.getByRole('heading', { name: title }).waitFor();
    await page.getByText('Mallory, live mode').waitFor();
    await page.getByText(foreign.workspaceId).waitFor();
    await page.getByText('Demo, test mode').waitFor();
    expect(page.url()).toBe(`${instance.origin}/console#/`);
    expect(await keysOf(page)).toEqual({ test: test.secret });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Stay here');
    await page.keyboard.press('Enter');
    await bandOf(page).getByText('Test mode', { exact: true }).waitFor();
    await bandOf(page).getByText('Demo').waitFor();
    expect(await keysOf(page)).toEqual({ test: test.secret });
    expect(changes).toEqual([]);
  });

  it('of another workspace leaves none of the old keys behind when it is followed', async () => {
    const { page } = await openSecondLink(foreign.live.secret);
    await page.getByRole('button', { name: 'Sign in with the key of the link' }).click();
    await bandOf(page).getByText('Live mode', { exact: true }).waitFor();
    await bandOf(page).getByText('Mallory').waitFor();
    expect(await keysOf(page)).toEqual({ live: foreign.live.secret });
  });

  it('of the other mode of the same workspace asks too, and both keys are kept', async () => {
    const { page } = await openSecondLink(live.secret);
    await page.getByRole('heading', { name: 'Sign in with the key of this link?' }).waitFor();
    await page.getByRole('button', { name: 'Sign in with the key of the link' }).click();
    await bandOf(page).getByText('Live mode', { exact: true }).waitFor();
    expect(await keysOf(page)).toEqual({ live: live.secret, test: test.secret });
  });

  it('with a key that cannot be used says so, and stays', async () => {
    const { page } = await openSecondLink(live.publishable);
    await page.getByText('This is a publishable key').waitFor();
    await page.getByRole('button', { name: 'Stay here' }).click();
    await bandOf(page).getByText('Demo').waitFor();
  });

  it('with the very same key does not ask', async () => {
    const { page } = await openSecondLink(test.secret);
    await expect.poll(() => page.url()).toBe(`${instance.origin}/console#/`);
    await bandOf(page).getByText('Demo').waitFor();
    expect(await page.getByRole('button', { name: 'Stay here' }).count()).toBe(0);
  });

  it('asks also where the page is loaded by it', async () => {
    const { page } = await openSecondLink(test.secret);
    await page.goto('about:blank');
    await page.goto(`${instance.origin}/console#key=${foreign.test.secret}`);
    await page.getByText('Mallory, test mode').waitFor();
    await page.getByRole('button', { name: 'Stay here' }).click();
    await bandOf(page).getByText('Demo').waitFor();
  });
});
