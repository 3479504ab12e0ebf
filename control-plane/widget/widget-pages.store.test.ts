import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { newApiKey } from '../../domain/rules/api-key.ts';
import { apiOfThisFile, apiOfThisTest, expectRejection } from '../api-under-test.ts';

/*
 * What browsers load of the widget. The script is the one that the last build left.
 *
 * Red when the ETag is not compared, when the script is too large, or when the demo is shown without its key.
 */
const key = newApiKey('publishable', 'test');
const demo = { key: key as string | undefined };
const api = await apiOfThisFile(undefined, { demoKey: () => demo.key });
const PATH = '/widget/v1.js';

describe('the script', () => {
  it('is at most 10 KiB, kept for a day, of the right type, and for pages of any origin', async () => {
    const read = (encoding: string) =>
      request(`${api.origin}${PATH}`, { headers: { 'accept-encoding': encoding } });
    const { headers, body } = await read('gzip, deflate');
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'gzip',
      'cache-control': 'public, max-age=86400, stale-while-revalidate=604800',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
      etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
    });
    const compressed = Buffer.from(await body.arrayBuffer());
    expect(compressed.length).toBeLessThanOrEqual(10 * 1024);
    const plain = await read('identity');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(gunzipSync(compressed).toString()).toBe(await plain.body.text());
    expect((await read('gzip, deflate, br')).headers['content-encoding']).toBe('br');
  });

  it('is not sent again to a browser that has it', async () => {
    const { headers } = await api.call('GET', PATH, { key: undefined });
    const again = { 'if-none-match': String(headers.etag) };
    const { status, text } = await api.call('GET', PATH, { key: undefined, headers: again });
    expect([status, text]).toEqual([304, '']);
  });
});

describe('the demo page', () => {
  it('has the publishable key of the demo, and lets nothing run that is not its own', async () => {
    const { status, headers, text } = await api.call('GET', '/demo/pricing', { key: undefined });
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain(`<metergate-pricing key="${key}"`);
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-[^']+'; style-src 'sha256-[^']+'; /,
    );
    expect(policy).not.toContain('unsafe');
  });

  it('is not there without a demo workspace', async () => {
    demo.key = undefined;
    expectRejection(await api.call('GET', '/demo/pricing', { key: undefined }), 'not_found');
    const without = await apiOfThisTest();
    expectRejection(await without.call('GET', '/demo/pricing', { key: undefined }), 'not_found');
  });
});
