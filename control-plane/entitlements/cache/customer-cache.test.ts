import { describe, expect, it } from 'vitest';
import type { HeldSubscription } from '../../../domain/rules/resolve-entitlements.ts';
import type { ReadCustomer } from './cached-customer.ts';
import { type CustomerCache, createCustomerCache } from './customer-cache.ts';

/*
 * Mutants this suite catches: no bound on the count or on the bytes; the most recently used evicted first;
 * one of two names left behind; a view that outlives its next change; credits cached beyond an expiry.
 */
const ENV = 'ws_a:live';
const NOW_MS = Date.UTC(2026, 10, 22);
const DAY_MS = 86_400_000;

function customerOf(customerId: string, more: Partial<ReadCustomer> = {}): ReadCustomer {
  const customerGrants = { graceMs: 7 * DAY_MS, subscriptions: [] as HeldSubscription[], overrides: [] };
  return {
    environment: ENV,
    customerId,
    isArchived: false,
    customerGrants: { ...customerGrants, subscriptions: [] },
    terms: new Map(),
    credits: { balance: '0', unpaid: '0', nextExpiryAt: null },
    mark: 'one',
    ...more,
  };
}

const keep = (cache: CustomerCache, id: string, more: Partial<ReadCustomer> & { name?: string } = {}) =>
  cache.fill(ENV, more.name ?? id, async () => customerOf(id, more));
const isThere = (cache: CustomerCache, name: string, nowMs = NOW_MS) =>
  cache.find(ENV, name, nowMs) !== undefined;

describe('the customer cache', () => {
  it('finds a customer by every name it was requested by, and forgets them all at once', async () => {
    const cache = createCustomerCache();
    await keep(cache, 'cus_a', { name: 'ext-1' });
    expect([isThere(cache, 'ext-1'), isThere(cache, 'cus_a')]).toEqual([true, true]);
    expect(cache.find('ws_a:test', 'cus_a', NOW_MS)).toBeUndefined();
    cache.forget(['cus_a']);
    expect([isThere(cache, 'ext-1'), isThere(cache, 'cus_a')]).toEqual([false, false]);
  });

  it('forgets an environment, or everything', async () => {
    const cache = createCustomerCache();
    await keep(cache, 'cus_a');
    await keep(cache, 'cus_b', { environment: 'other' });
    cache.forgetEnvironment(ENV);
    expect(isThere(cache, 'cus_a')).toBe(false);
    expect(cache.find('other', 'cus_b', NOW_MS)).toBeDefined();
    cache.clear();
    expect(cache.find('other', 'cus_b', NOW_MS)).toBeUndefined();
  });

  it('is bounded by count: evicts the least recently requested first', async () => {
    const cache = createCustomerCache({ countMax: 2, bytesMax: 2 ** 20 });
    await keep(cache, 'cus_a');
    await keep(cache, 'cus_b');
    cache.nextRound();
    isThere(cache, 'cus_a');
    await keep(cache, 'cus_c');
    expect(['cus_a', 'cus_b', 'cus_c'].map((id) => isThere(cache, id))).toEqual([true, false, true]);
  });

  it('is bounded by size', async () => {
    const cache = createCustomerCache({ countMax: 1_000, bytesMax: 10_000 });
    for (let at = 0; at < 100; at += 1) await keep(cache, `cus_${at}`);
    const held = Array.from({ length: 100 }, (_, at) => isThere(cache, `cus_${at}`)).filter(Boolean);
    expect(held.length).toBeGreaterThan(0);
    expect(held.length).toBeLessThanOrEqual(5);
  });

  it('never caches an unknown customer', async () => {
    const cache = createCustomerCache();
    let reads = 0;
    const unknown = () =>
      cache.fill(ENV, 'cus_unknown', async () => {
        reads += 1;
        return undefined;
      });
    expect([await unknown(), await unknown()]).toEqual([undefined, undefined]);
    expect(reads).toBe(2);
  });

  it('drops a customer not requested for a minute, and one that is too large on every check', async () => {
    const cache = createCustomerCache();
    await keep(cache, 'cus_a');
    await cache.fill(ENV, 'cus_l', async () => ({ environment: ENV, customerId: 'cus_l', isLarge: true }));
    expect(cache.nextRound()).toHaveLength(1);
    expect(isThere(cache, 'cus_l')).toBe(false);
    for (let round = 0; round < 12; round += 1) cache.nextRound();
    expect(isThere(cache, 'cus_a')).toBe(false);
  });

  it('keeps credits until a grant of them expires', async () => {
    const cache = createCustomerCache();
    const nextExpiryAt = new Date(NOW_MS + 1_000);
    await keep(cache, 'cus_a', { credits: { balance: '5', unpaid: '0', nextExpiryAt } });
    expect(isThere(cache, 'cus_a', NOW_MS + 999)).toBe(true);
    expect(isThere(cache, 'cus_a', NOW_MS + 1_000)).toBe(false);
  });

  it('resolves again when time alone has changed the entitlements', async () => {
    const cache = createCustomerCache();
    const { customerGrants } = customerOf('cus_a');
    const expiresAtMs = NOW_MS + 5_000;
    customerGrants.overrides = [
      { featureKey: 'sso', type: 'boolean', meterKey: null, value: true, expiresAtMs },
    ];
    const found = await keep(cache, 'cus_a', { customerGrants });
    if (!found || 'isLarge' in found) throw new TypeError('it is not cached');
    const has = (atMs: number) => found.viewAt(atMs).features.has('sso');
    expect([has(NOW_MS), has(expiresAtMs - 1), has(expiresAtMs)]).toEqual([true, true, false]);
    expect(found.viewAt(expiresAtMs)).toBe(found.viewAt(expiresAtMs + DAY_MS));
    expect(has(NOW_MS)).toBe(true);
  });
});
