import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signatureHeaders } from '../../../../delivery/send/sign.ts';
import { type Delivery, verifyWebhook } from './verify.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const OTHER = `whsec_${randomBytes(32).toString('base64')}`;
const BODY = '{"id":"evt_1","type":"plan.created","data":{"name":"Größe"}}';
const NOW_MS = 1_767_225_600_000;

/** Signed as the server does it. */
function delivery(secrets = [SECRET], atMs = NOW_MS): Delivery & { headers: Record<string, string> } {
  const headers = signatureHeaders({ eventId: 'evt_1', body: Buffer.from(BODY), secrets, atMs });
  return { body: BODY, headers, secret: SECRET, nowMs: NOW_MS };
}

describe('a delivery', () => {
  it('of the server is verified, in bytes and as text, with headers of every kind', async () => {
    const { headers } = delivery();
    const event = { id: 'evt_1', type: 'plan.created' };
    for (const body of [BODY, Buffer.from(BODY)]) {
      const inCapitals = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]);
      for (const given of [headers, new Headers(headers), Object.fromEntries(inCapitals)]) {
        expect(await verifyWebhook({ ...delivery(), body, headers: given })).toMatchObject(event);
      }
    }
  });

  it('is verified by either secret while one is being replaced', async () => {
    const both = delivery([OTHER, SECRET]);
    expect(await verifyWebhook(both)).toMatchObject({ id: 'evt_1' });
    expect(await verifyWebhook({ ...both, secret: OTHER })).toMatchObject({ id: 'evt_1' });
    expect(await verifyWebhook({ ...delivery(), secret: [OTHER, SECRET] })).toMatchObject({ id: 'evt_1' });
  });

  it('that standardwebhooks signs is verified', async () => {
    const signature = new Webhook(SECRET).sign('evt_1', new Date(NOW_MS), BODY);
    const headers = { ...delivery().headers, 'webhook-signature': `v1a,x ${signature}` };
    expect(await verifyWebhook({ ...delivery(), headers })).toMatchObject({ id: 'evt_1' });
  });

  const { headers } = delivery();
  it.each<[what: string, change: Partial<Delivery>, code: string]>([
    ['another body', { body: BODY.replace('1', '2') }, 'signature_invalid'],
    ['another secret', { secret: OTHER }, 'signature_invalid'],
    ['another id', { headers: { ...headers, 'webhook-id': 'evt_2' } }, 'signature_invalid'],
    [
      'a signature that is no base64',
      { headers: { ...headers, 'webhook-signature': 'v1,%' } },
      'signature_invalid',
    ],
    ['an old time', { nowMs: NOW_MS + 301_000 }, 'timestamp_invalid'],
    ['a time that is ahead', { nowMs: NOW_MS - 301_000 }, 'timestamp_invalid'],
    ['no time', { headers: { ...headers, 'webhook-timestamp': 'x' } }, 'timestamp_invalid'],
    ['no signature', { headers: { 'webhook-id': 'evt_1', 'webhook-timestamp': '1' } }, 'header_missing'],
    ['a secret that is none', { secret: 'sk_live_1' }, 'secret_invalid'],
    ['no secret', { secret: [] }, 'signature_invalid'],
    ['a secret that is missing', { secret: undefined as never }, 'secret_invalid'],
    ['a body that was parsed', { body: JSON.parse(BODY) }, 'body_invalid'],
    ['a tolerance that is no number', { toleranceSeconds: Number.NaN }, 'tolerance_invalid'],
  ])('with %s is not', async (_, change, code) => {
    await expect(verifyWebhook({ ...delivery(), ...change })).rejects.toMatchObject({
      name: 'WebhookError',
      code,
    });
  });
});
