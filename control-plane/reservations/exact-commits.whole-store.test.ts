import { describe, expect, it } from 'vitest';
import { exactCommitsOfThisFile } from './exact-commits-under-test.ts';

/*
 * Many callers at once over two control planes, who hold and commit, or consume, while the load counts what
 * they used. Faults this suite catches: usage that is on the log and that no decision sees; usage that is
 * seen twice, so that a caller is denied what would fit; an event that is written twice, or not at all.
 */
const { consumeAll, holdAndCommitAll, ...made } = await exactCommitsOfThisFile();
const CALLERS = 1_000;

describe('of many callers at once over two control planes', () => {
  it.each([
    ['who hold and commit', holdAndCommitAll],
    ['who consume', consumeAll],
  ])(
    '%s exactly as many use the limit as it has room for',
    async (_, useAll) => {
      expect(await made.useLimit(useAll, CALLERS)).toEqual([90, 10]);
    },
    300_000,
  );

  it('with amounts that differ the limit is kept, and the counter has all that was used', async () => {
    await made.useAmountsThatDiffer(33, CALLERS);
  }, 300_000);

  it('a wallet pays for what it can pay, of whichever meter', async () => {
    await made.useWallet(CALLERS);
  }, 300_000);
});
