import { describe, expect, it } from 'vitest';
import type { HeldSubscription } from '../../../domain/rules/resolve-entitlements.ts';
import type { ReadCustomer } from './cached-customer.ts';
import { type CustomerMemory, createCustomerMemory } from './customer-cache.ts';

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
    holder: { customerId, isArchived: false, customerGrants: { ...customerGrants, subscriptions: [] } },
    terms: new Map(),
    credits: { balance: '0', unpaid: '0', nextExpiryAt: null },
    mark: 'one',
    ...more,
  };
}

const keep = (memory: CustomerMemory, id: string, more: Partial<ReadCustomer> & { name?: string } = {}) =>
  memory.fill(ENV, more.name ?? id, async () => customerOf(id, more));
const isThere = (memory: CustomerMemory, name: string, nowMs = NOW_MS) =>
  memory.find(ENV, name, nowMs) !== undefined;

describe('the memory of customers', () => {
  it('finds a customer by every name it was requested by, and forgets them all at once', async () => {
    const memory = createCustomerMemory();
    await keep(memory, 'cus_a', { name: 'ext-1' });
    expect([isThere(memory, 'ext-1'), isThere(memory, 'cus_a')]).toEqual([true, true]);
    expect(memory.find('ws_a:test', 'cus_a', NOW_MS)).toBeUndefined();
    memory.forget(['cus_a']);
    expect([isThere(memory, 'ext-1'), isThere(memory, 'cus_a')]).toEqual([false, false]);
  });

  it('forgets what an environment holds, or everything', async () => {
    const memory = createCustomerMemory();
    await keep(memory, 'cus_a');
    await keep(memory, 'cus_b', { environment: 'other' });
    memory.forgetEnvironment(ENV);
    expect(isThere(memory, 'cus_a')).toBe(false);
    expect(memory.find('other', 'cus_b', NOW_MS)).toBeDefined();
    memory.clear();
    expect(memory.find('other', 'cus_b', NOW_MS)).toBeUndefined();
  });

  it('is bounded by count: the least recently requested goes first', async () => {
    const memory = createCustomerMemory({ countMax: 2, bytesMax: 2 ** 20 });
    await keep(memory, 'cus_a');
    await keep(memory, 'cus_b');
    memory.nextRound();
    isThere(memory, 'cus_a');
    await keep(memory, 'cus_c');
    expect(['cus_a', 'cus_b', 'cus_c'].map((id) => isThere(memory, id))).toEqual([true, false, true]);
  });

  it('is bounded by size', async () => {
    const memory = createCustomerMemory({ countMax: 1_000, bytesMax: 10_000 });
    for (let at = 0; at < 100; at += 1) await keep(memory, `cus_${at}`);
    const held = Array.from({ length: 100 }, (_, at) => isThere(memory, `cus_${at}`)).filter(Boolean);
    expect(held.length).toBeGreaterThan(0);
    expect(held.length).toBeLessThanOrEqual(5);
  });

  it('never remembers nobody', async () => {
    const memory = createCustomerMemory();
    let reads = 0;
    const nobody = () =>
      memory.fill(ENV, 'nobody', async () => {
        reads += 1;
        return undefined;
      });
    expect([await nobody(), await nobody()]).toEqual([undefined, undefined]);
    expect(reads).toBe(2);
  });

  it('drops a customer not requested for a minute, and one that is too large on every check', async () => {
    const memory = createCustomerMemory();
    await keep(memory, 'cus_a');
    await memory.fill(ENV, 'cus_l', async () => ({ environment: ENV, customerId: 'cus_l', isLarge: true }));
    expect(memory.nextRound()).toHaveLength(1);
    expect(isThere(memory, 'cus_l')).toBe(false);
    for (let round = 0; round < 12; round += 1) memory.nextRound();
    expect(isThere(memory, 'cus_a')).toBe(false);
  });

  it('keeps credits until a grant of them expires', async () => {
    const memory = createCustomerMemory();
    const nextExpiryAt = new Date(NOW_MS + 1_000);
    await keep(memory, 'cus_a', { credits: { balance: '5', unpaid: '0', nextExpiryAt } });
    expect(isThere(memory, 'cus_a', NOW_MS + 999)).toBe(true);
    expect(isThere(memory, 'cus_a', NOW_MS + 1_000)).toBe(false);
  });

  it('resolves again when time alone has changed the entitlements', async () => {
    const memory = createCustomerMemory();
    const holder = customerOf('cus_a').holder;
    const expiresAtMs = NOW_MS + 5_000;
    holder.customerGrants.overrides = [
      { featureKey: 'sso', type: 'boolean', meterKey: null, value: true, expiresAtMs },
    ];
    const found = await keep(memory, 'cus_a', { holder });
    if (!found || 'isLarge' in found) throw new TypeError('it is not remembered');
    const has = (atMs: number) => found.viewAt(atMs).features.has('sso');
    expect([has(NOW_MS), has(expiresAtMs - 1), has(expiresAtMs)]).toEqual([true, true, false]);
    expect(found.viewAt(expiresAtMs)).toBe(found.viewAt(expiresAtMs + DAY_MS));
    expect(has(NOW_MS)).toBe(true);
  });
});
