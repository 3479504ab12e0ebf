import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testFolder } from '../tests/support/test-folder.ts';
import { deriveSecrets, hashApiKey, readServerSecret, seal, unseal } from './secrets.ts';

const { keyPepper, sealingKey, internalToken, customerTokenKey } = deriveSecrets(Buffer.alloc(32, 1));
const BROKEN = expect.objectContaining({ name: 'Poison', code: 'seal_broken' });

test('the server secret is made once, for the eyes of this account alone', () => {
  const dataDir = testFolder();
  const made = readServerSecret({ dataDir });
  expect(made).toHaveLength(32);
  expect(readServerSecret({ dataDir })).toEqual(made);
  expect(statSync(join(dataDir, 'server-secret')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(dataDir, 'server-secret'), 'utf8')).toBe(made.toString('base64'));
});

test('a given secret is used and not written down; a damaged file is rejected, not replaced', () => {
  const dataDir = testFolder();
  expect(readServerSecret({ given: Buffer.alloc(32, 9).toString('base64'), dataDir })).toEqual(
    Buffer.alloc(32, 9),
  );
  writeFileSync(join(dataDir, 'server-secret'), 'half');
  expect(() => readServerSecret({ dataDir })).toThrow(
    expect.objectContaining({ code: 'server_secret_invalid' }),
  );
});

// Red when a new one is made: every API key would be unknown from then on, without a word.
test('a lost secret is an error, not made again, once there is a log', () => {
  const dataDir = testFolder();
  readServerSecret({ dataDir });
  rmSync(join(dataDir, 'server-secret'));
  mkdirSync(join(dataDir, 'log'));
  writeFileSync(join(dataDir, 'log', 'log.json'), '{}');
  expect(() => readServerSecret({ dataDir })).toThrow(
    expect.objectContaining({ code: 'server_secret_missing' }),
  );
  expect(readdirSync(dataDir)).toEqual(['log']);
});

test('each purpose has its own key, and the same secret always gives the same ones', () => {
  expect(keyPepper).not.toEqual(sealingKey);
  const all = { keyPepper, sealingKey, internalToken, customerTokenKey };
  expect(deriveSecrets(Buffer.alloc(32, 1))).toEqual(all);
  expect(new Set(Object.values(all).map((key) => key.toString('hex'))).size).toBe(4);
  expect(hashApiKey('sk_live_x', keyPepper)).toHaveLength(32);
  expect(hashApiKey('sk_live_x', keyPepper)).not.toEqual(hashApiKey('sk_live_x', sealingKey));
});

test('what was sealed opens under the same key and context, and never twice the same', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ maxLength: 40 }), (plain, context) => {
      const bytes = Buffer.from(plain);
      const sealed = seal(bytes, sealingKey, context);
      expect(unseal(sealed, sealingKey, context)).toEqual(bytes);
      expect(seal(bytes, sealingKey, context)).not.toEqual(sealed);
    }),
  );
});

/** Red when the tag is not checked, or the context is left out of it. */
test('a changed byte, another context and another key are noticed', () => {
  const sealed = seal(Buffer.from('secret'), sealingKey, 'here');
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => unseal(changed, sealingKey, 'here')).toThrow(BROKEN);
  }
  expect(() => unseal(sealed, sealingKey, 'there')).toThrow(BROKEN);
  expect(() => unseal(sealed, keyPepper, 'here')).toThrow(BROKEN);
  expect(() => unseal(Buffer.from('short'), sealingKey, 'here')).toThrow(BROKEN);
});
