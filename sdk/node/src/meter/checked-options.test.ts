import { describe, expect, it } from 'vitest';
import { type ClientOptions, createClient } from '../client/client.ts';
import { openSpool } from '../spool/spool.ts';
import { createMeter } from './meter.ts';
import { spread } from './retry-policy.ts';

describe('a meter or client is not made', () => {
  const SECRET = 'sk_live_SECRET';
  it.each<[what: string, change: Partial<ClientOptions>]>([
    ['a key of two lines', { apiKey: `${SECRET}\n\nabc` }],
    ['a key with a character that none has', { apiKey: `${SECRET}\u0001` }],
    ['no key', { apiKey: undefined as never }],
    ['a password in the URL', { url: `http://user:${SECRET}@127.0.0.1:9` }],
    ['a secret in the query', { url: `http://127.0.0.1:9/?key=${SECRET}` }],
    ['no address as its URL', { url: `not a url ${SECRET}` }],
    ['no URL', { url: undefined as never }],
    ['another protocol', { url: `ftp://${SECRET}.example.com` }],
  ])('with %s, and its message has no secret', (_, change) => {
    for (const make of [createMeter, createClient]) {
      const made = () => make({ url: 'http://127.0.0.1:9', apiKey: 'sk_test_1', ...change });
      expect(made).toThrow(TypeError);
      expect(made).not.toThrow(SECRET);
    }
  });

  it.each([
    { batchEventsMax: 501 },
    { batchEventsMax: 0 },
    { lingerMs: Number.NaN },
    { lingerMs: Number.POSITIVE_INFINITY },
    { timeoutMs: 0 },
    { requestsMax: 1.5 },
    { memory: { eventsMax: -1 } },
  ])('with %j', (limits) => {
    const [name = ''] = Object.keys(limits);
    expect(() => createMeter({ url: 'http://a', apiKey: 'k', ...limits })).toThrow(RangeError);
    expect(() => createMeter({ url: 'http://a', apiKey: 'k', ...limits })).toThrow(name);
  });
});

it.each([
  [{ folder: '' }, TypeError],
  [{ fsync: 'always' as never }, TypeError],
  [{ bytesMax: Number.NaN }, RangeError],
])('a spool is not made with %j', (options, error) => {
  expect(() => openSpool({ folder: 'spool', ...options })).toThrow(error);
});

it('clients that got the same time to wait do not return together', () => {
  const waits = Array.from({ length: 100 }, () => spread(1_000));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(100);
});
