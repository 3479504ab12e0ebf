import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createHashedAssets, SCRIPT } from './hashed-assets.ts';

const { add, page } = createHashedAssets('/docs');

it('texts are compressed once for all requests, and images stay as they are', async () => {
  const [script = '', icon = ''] = [
    add('start.js', SCRIPT, 'let a = 1;'.repeat(100)),
    add('icon.png', 'image/png', Buffer.of(1, 2)),
  ].map((path) => path.split('/').at(-1));
  const [one, other] = await Promise.all([page(script), page(script)]);
  expect(gunzipSync(one.encoded?.gzip ?? '').toString()).toBe('let a = 1;'.repeat(100));
  expect(one.encoded?.br).toBe(other.encoded?.br);
  expect(await page(icon)).not.toHaveProperty('encoded');
});

it('no other name is served', async () => {
  await expect(page('start.js')).rejects.toMatchObject({ rejection: { code: 'not_found' } });
});
