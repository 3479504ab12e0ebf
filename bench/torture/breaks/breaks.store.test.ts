import { expect, it } from 'vitest';
import { BREAKS } from './break-list.ts';
import { inWords, proveBreaks } from './prove-breaks.ts';

it('every break turns red the tests that are named for it', { timeout: 420_000 }, async () => {
  const verdicts = await proveBreaks(BREAKS, 'modules');
  expect(verdicts.filter(({ outcome }) => outcome !== 'red').map(inWords)).toEqual([]);
});
