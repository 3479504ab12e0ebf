import { expect, it } from 'vitest';
import type { Caller } from './request-context.ts';
import { createRequestPlaces, shareOf } from './request-slots.ts';

const secret = (environment: string): Caller => ({
  environment,
  kind: 'secret',
  actor: 'key',
  scopes: ['*'],
});

/** Red without shares: a caller that fills all slots with waiting reads causes 503 for every other caller. */
it('an environment that takes all places it can get leaves places to others', async () => {
  const inPlace = createRequestPlaces(8);
  const ends: Array<() => void> = [];
  const slow = () => new Promise<void>((resolve) => ends.push(resolve));
  const crowd = Array.from({ length: 6 }, () => inPlace(secret('a:live'), slow));
  const outcomes = Promise.allSettled(crowd);
  expect(ends).toHaveLength(4);
  expect(await inPlace(secret('b:live'), async () => 'served')).toBe('served');
  const failing = inPlace(secret('b:live'), () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  for (const end of ends) end();
  expect((await outcomes).map(({ status }) => status)).toEqual([
    ...Array(4).fill('fulfilled'),
    ...Array(2).fill('rejected'),
  ]);
  expect(await inPlace(secret('a:live'), async () => 'served')).toBe('served');
});

it('what strangers can send takes nothing from the share of secret keys', () => {
  const environment = 'ws_1:live';
  const shares = [{ environment, kind: 'secret' }, { environment, kind: 'publishable' }, { environment }];
  expect(new Set(shares.map((caller) => shareOf(caller as Caller))).size).toBe(3);
  // Whatever workspace a path names: the signature is not verified yet.
  expect(shareOf({ environment: 'ws_2:live' })).toBe(shareOf({ environment }));
});
