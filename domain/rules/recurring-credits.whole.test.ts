import { it } from 'vitest';
import { compareHistories } from './recurring-histories-under-test.ts';

/* As recurring-credits.test.ts, at length. */
it('agree with a slow model over 20,000 random histories', { timeout: 120_000 }, () => {
  compareHistories(20_000);
});
