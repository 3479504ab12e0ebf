import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createIdentity } from './identity.ts';

const KEY = Buffer.alloc(32, 7);
const derive = (purpose: string) => createHmac('sha256', KEY).update(purpose).digest();

/** Event ids of stored events depend on these bytes: red when the derivation changes. */
test('keys are derived from the identity key for one purpose each', () => {
  const identity = createIdentity(KEY);
  expect(identity.check).toEqual(derive('check').subarray(0, 16));
  expect(identity.keyOf('ws_a:live')).toEqual(derive('environment ws_a:live'));
  expect(identity.keyOf('ws_a:live')).toBe(identity.keyOf('ws_a:live'));
  expect(identity.keyOf('ws_a:test')).not.toEqual(identity.keyOf('ws_a:live'));
});

test('another identity key gives other keys', () => {
  const [one, two] = [createIdentity(KEY), createIdentity(Buffer.alloc(32, 8))];
  expect(one.check).not.toEqual(two.check);
  expect(one.keyOf('e')).not.toEqual(two.keyOf('e'));
});

test('more environments than are kept still have their own keys', () => {
  const identity = createIdentity(KEY);
  for (let at = 0; at <= 10_000; at++) identity.keyOf(`ws_${at}:live`);
  expect(identity.keyOf('ws_0:live')).toEqual(derive('environment ws_0:live'));
});
