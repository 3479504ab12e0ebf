import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import type { WebhookDelivery } from '../schemas/resources/webhook-deliveries.ts';
import type { WebhookEndpoint } from '../schemas/resources/webhooks.ts';
import { instanceOfThisFile } from '../tests/support/instance-of-this-file.ts';
import { startStopwatch } from '../tests/support/stopwatch.ts';
import { receiverOfThisFile, startReading } from './receiver-under-test.ts';

/*
 * Webhooks of a whole Metergate, from the change to the receiver and back through the API. The parts have
 * their own tests; this one checks that they fit together.
 */
interface Arrived {
  headers: Record<string, string>;
  body: string;
}

/** The status with which the receiver responds. */
let status = 200;
const arrived: Arrived[] = [];

const receiver = await receiverOfThisFile(
  startReading(
    ({ headers, body }) =>
      void arrived.push({ headers: headers as Record<string, string>, body: body.toString() }),
    (response) => response.writeHead(status).end('received'),
  ),
);
// As it is by default: of test mode, events may go to the loopback address over http.
const instance = await instanceOfThisFile({});
const endpoint: WebhookEndpoint & { secret: string } = await call('POST', '/webhooks/endpoints', {
  url: receiver.url,
  events: ['customer.created'],
});

// biome-ignore lint/suspicious/noExplicitAny: each test reads the fields of its own operation
async function call(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${instance.origin}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${instance.keys().test.secret}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

const customer = (name: string) => call('POST', '/customers', { name, email: 'a@example.com' });

/** The first request that holds this text. */
async function requestWith(text: string): Promise<Arrived> {
  const find = () => arrived.find(({ body }) => body.includes(text));
  await expect.poll(find, { timeout: 40_000, message: `${text} arrives` }).toBeDefined();
  return find() as Arrived;
}

/** Once its first attempt is written down, which is after it arrived. */
async function deliveryOf({ headers }: Arrived, wanted: WebhookDelivery['status']): Promise<WebhookDelivery> {
  const find = async () => {
    const { data } = await call('GET', `/webhooks/endpoints/${endpoint.id}/deliveries`);
    return data.find(
      ({ eventId, status, attemptsMade }: WebhookDelivery) =>
        eventId === headers['webhook-id'] && status === wanted && attemptsMade > 0,
    );
  };
  await expect.poll(find, { timeout: 40_000, message: `a delivery that is ${wanted}` }).toBeDefined();
  return find();
}

function verify({ headers, body }: Arrived, secret: string): unknown[] {
  return [
    Stripe.webhooks.constructEvent(body, headers['x-service-signature'] ?? '', secret),
    new Webhook(secret).verify(body, headers),
  ];
}

describe('a registered endpoint', () => {
  it('is sent a test, signed as everything is', async () => {
    const delivery = await call('POST', `/webhooks/endpoints/${endpoint.id}/test`);
    const one = await requestWith(delivery.eventId);
    expect(verify(one, endpoint.secret)).toEqual([JSON.parse(one.body), JSON.parse(one.body)]);
    const { id, attemptsMade } = await deliveryOf(one, 'succeeded');
    expect([id, attemptsMade]).toEqual([delivery.id, 1]);
    const { attempts } = await call('GET', `/webhooks/deliveries/${id}`);
    expect(attempts).toMatchObject([{ number: 1, status: 200, responseBody: 'received' }]);
    expect(attempts[0].requestHead).toContain(`webhook-id: ${delivery.eventId}`);
  });

  it('gets what it selected, in the bytes that the API shows, within seconds', async () => {
    await call('POST', '/meters', { key: 'unselected', name: 'Unselected', aggregation: 'sum' });
    const passedMs = startStopwatch();
    await customer('Ada 💡');
    const one = await requestWith('Ada 💡');
    expect(passedMs()).toBeLessThan(5_000);
    const shown = await fetch(`${instance.origin}/api/v1/webhooks/events/${one.headers['webhook-id']}`, {
      headers: { authorization: `Bearer ${instance.keys().test.secret}` },
    });
    expect(one.body).toBe(await shown.text());
  });

  it('knows either secret while one is replaced', async () => {
    const { secret } = await call('POST', `/webhooks/endpoints/${endpoint.id}/rotate-secret`);
    await customer('Between');
    const one = await requestWith('Between');
    for (const known of [endpoint.secret, secret]) expect(verify(one, known)).toHaveLength(2);
    await call('POST', `/webhooks/endpoints/${endpoint.id}/rotate-secret`, { overlapSeconds: 0 });
    await customer('After');
    const after = await requestWith('After');
    expect(() => verify(after, secret)).toThrow();
  });

  it('that failed is tried again by itself, and at once when it is replayed', async () => {
    status = 500;
    await customer('Unwell');
    const first = await requestWith('Unwell');
    const { id, lastStatus, nextAttemptAt } = await deliveryOf(first, 'pending');
    expect([lastStatus, Date.parse(nextAttemptAt ?? '') > Date.now()]).toEqual([500, true]);
    status = 200;
    arrived.length = 0;
    expect((await call('POST', `/webhooks/deliveries/${id}/replay`)).id).toBe(id);
    const again = await requestWith('Unwell');
    expect([again.headers['webhook-id'], again.body]).toEqual([first.headers['webhook-id'], first.body]);
    expect(again.headers['x-service-attempt']).toBe('2');
    await deliveryOf(again, 'succeeded');
  });

  it('that is disabled misses nothing that cannot be replayed', async () => {
    const path = `/webhooks/endpoints/${endpoint.id}`;
    await call('PATCH', path, { status: 'disabled' });
    const from = new Date(Date.now() - 1_000).toISOString();
    await customer('Meanwhile');
    const held = async () => (await call('GET', `${path}/deliveries?status=held`)).data.length;
    await expect.poll(held, { timeout: 40_000 }).toBe(1);
    await call('PATCH', path, { status: 'enabled' });
    const to = new Date(Date.now() + 1_000).toISOString();
    const replayed = await call('POST', `${path}/replay`, { from, to, onlyFailed: true });
    expect(replayed).toEqual({ replayed: 1, hurried: 0 });
    await requestWith('Meanwhile');
    expect(arrived.filter(({ body }) => body.includes('Meanwhile'))).toHaveLength(1);
  });

  it('that responds with 410 gets nothing any more', async () => {
    const path = `/webhooks/endpoints/${endpoint.id}`;
    status = 410;
    await customer('Gone');
    const one = await requestWith('Gone');
    const shown = async () => (await call('GET', path)).disabledReason;
    await expect.poll(shown, { timeout: 40_000 }).toBe('gone');
    await deliveryOf(one, 'held');
    status = 200;
    const { disabledReason, status: now } = await call('PATCH', path, { status: 'enabled' });
    expect([disabledReason, now]).toEqual([undefined, 'enabled']);
  });

  it('that is deleted takes what was pending with it', async () => {
    status = 500;
    await customer('Last');
    const { id } = await deliveryOf(await requestWith('Last'), 'pending');
    await call('DELETE', `/webhooks/endpoints/${endpoint.id}`);
    const ended = async () => (await call('GET', `/webhooks/deliveries/${id}`)).status;
    await expect.poll(ended, { timeout: 40_000 }).toBe('failed');
  });

  it('leaves no secret in a log', () => {
    expect(instance.written()).not.toContain('whsec_');
    expect(instance.errors()).toEqual([]);
  });
});
