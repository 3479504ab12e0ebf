import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebhookDelivery } from '../schemas/resources/webhook-deliveries.ts';
import type { WebhookEndpoint } from '../schemas/resources/webhooks.ts';
import { type Instance, startInstance } from '../tests/support/instance.ts';
import { startStopwatch } from '../tests/support/stopwatch.ts';
import { type Receiver, startReceiver } from './receiver-under-test.ts';

/*
 * Webhooks of a whole Metergate, from the change to the receiver and back through the API. The parts have
 * their own tests; this one checks that they fit together.
 */
interface Came {
  headers: Record<string, string>;
  body: string;
}

let instance: Instance;
let receiver: Receiver;
let endpoint: WebhookEndpoint & { secret: string };
/** The status with which the receiver responds. */
let status = 200;
const came: Came[] = [];

beforeAll(async () => {
  receiver = await startReceiver(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    came.push({
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks).toString(),
    });
    response.writeHead(status).end('received');
  });
  // As it is by default: of test mode, events may go to the loopback address over http.
  instance = await startInstance();
  endpoint = await call('POST', '/webhooks/endpoints', { url: receiver.url, events: ['customer.created'] });
});

afterAll(async () => {
  await instance?.remove();
  await receiver?.close();
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
async function received(text: string): Promise<Came> {
  const find = () => came.find(({ body }) => body.includes(text));
  await expect.poll(find, { timeout: 40_000, message: `${text} arrives` }).toBeDefined();
  return find() as Came;
}

/** Once its first attempt is written down, which is after it came. */
async function deliveryOf({ headers }: Came, wanted: WebhookDelivery['status']): Promise<WebhookDelivery> {
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

function verify({ headers, body }: Came, secret: string): unknown[] {
  return [
    Stripe.webhooks.constructEvent(body, headers['x-service-signature'] ?? '', secret),
    new Webhook(secret).verify(body, headers),
  ];
}

describe('a registered endpoint', () => {
  it('is sent a test, signed as everything is', async () => {
    const delivery = await call('POST', `/webhooks/endpoints/${endpoint.id}/test`);
    const one = await received(delivery.eventId);
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
    const one = await received('Ada 💡');
    expect(passedMs()).toBeLessThan(5_000);
    const shown = await fetch(`${instance.origin}/api/v1/webhooks/events/${one.headers['webhook-id']}`, {
      headers: { authorization: `Bearer ${instance.keys().test.secret}` },
    });
    expect(one.body).toBe(await shown.text());
  });

  it('knows either secret while one is replaced', async () => {
    const { secret } = await call('POST', `/webhooks/endpoints/${endpoint.id}/rotate-secret`);
    await customer('Between');
    const one = await received('Between');
    for (const known of [endpoint.secret, secret]) expect(verify(one, known)).toHaveLength(2);
    await call('POST', `/webhooks/endpoints/${endpoint.id}/rotate-secret`, { overlapSeconds: 0 });
    await customer('After');
    const after = await received('After');
    expect(() => verify(after, secret)).toThrow();
  });

  it('that failed is tried again by itself, and at once when it is replayed', async () => {
    status = 500;
    await customer('Unwell');
    const first = await received('Unwell');
    const { id, lastStatus, nextAttemptAt } = await deliveryOf(first, 'pending');
    expect([lastStatus, Date.parse(nextAttemptAt ?? '') > Date.now()]).toEqual([500, true]);
    status = 200;
    came.length = 0;
    expect((await call('POST', `/webhooks/deliveries/${id}/replay`)).id).toBe(id);
    const again = await received('Unwell');
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
    await received('Meanwhile');
    expect(came.filter(({ body }) => body.includes('Meanwhile'))).toHaveLength(1);
  });

  it('that responds with 410 gets nothing any more', async () => {
    const path = `/webhooks/endpoints/${endpoint.id}`;
    status = 410;
    await customer('Gone');
    const one = await received('Gone');
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
    const { id } = await deliveryOf(await received('Last'), 'pending');
    await call('DELETE', `/webhooks/endpoints/${endpoint.id}`);
    const ended = async () => (await call('GET', `/webhooks/deliveries/${id}`)).status;
    await expect.poll(ended, { timeout: 40_000 }).toBe('failed');
  });

  it('leaves no secret in a log', () => {
    expect(instance.written()).not.toContain('whsec_');
    expect(instance.errors()).toEqual([]);
  });
});
