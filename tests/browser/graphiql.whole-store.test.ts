import { expect, it } from 'vitest';
import { apiOfThisFile } from '../../control-plane/api-under-test.ts';
import { browserOfThisFile, openPage } from './browser.ts';

/*
 * The page to write queries, in a real Chromium under its own policy.
 *
 * Mutants this suite catches: a worker or a style that the policy forbids; the key kept beyond the session.
 */
const api = await apiOfThisFile();
const browser = await browserOfThisFile();

it('runs a query with a key that is kept for the session, and loads nothing from elsewhere', async () => {
  const { page, context, faults } = await openPage(browser, { origin: api.origin });
  await page.goto(`${api.origin}/graphql`);
  await page.getByLabel('API key').fill(api.keys.live.secret);
  await page.getByRole('button', { name: 'Use key' }).click();
  await page.locator('.graphiql-execute-button').click();
  await page.getByText('"customers"').waitFor();
  const kept = await page.evaluate(() => [JSON.stringify(localStorage), JSON.stringify(sessionStorage)]);
  expect(kept.map((one) => one.includes(api.keys.live.secret))).toEqual([false, true]);
  await page.getByRole('button', { name: 'Forget key' }).click();
  await page.getByText('Enter a secret key').waitFor();
  expect(faults).toEqual([]);
  await context.close();
}, 120_000);
