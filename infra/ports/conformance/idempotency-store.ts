import { describe, expect, it } from 'vitest';
import { OUTCOME } from '../idempotency-store.ts';
import { anySequence } from './idempotency-sequences.ts';
import { type CreateStoreHarness, item, openSession } from './idempotency-session.ts';

/**
 * The behaviour of every IdempotencyStore. An adapter's test is one call of this. Each store decides what
 * becomes of a claim whose owner was killed: one that is a view of the log reads the log, a distributed one
 * keeps it until its lease has run out.
 */
export function idempotencyStoreConformance(
  name: string,
  create: CreateStoreHarness,
  afterKill: 'reads the log' | 'keeps claims' = 'reads the log',
): void {
  describe(`${name} as an IdempotencyStore`, () => {
    describe('one claim', () => oneClaim(create));
    describe('several claims', () => severalClaims(create));
    describe('any sequence of acts', () => anySequence(create, afterKill));
  });
}

const { absent, created, duplicate, reused } = OUTCOME;

function oneClaim(create: CreateStoreHarness): void {
  it('creates what is new, and gives a repeat the times of the original', async () => {
    const session = await openSession(create);
    const [first] = await session.claim([{ id: 1, fingerprint: 7, occurredAtMs: 100, createdAtMs: 200 }]);
    expect(first).toMatchObject({ outcome: created });
    await session.commit();
    const repeat = { id: 1, fingerprint: 7, occurredAtMs: 101, createdAtMs: 202 };
    expect(await session.claim([repeat])).toEqual([
      { outcome: duplicate, occurredAtMs: 100, createdAtMs: 200 },
    ]);
  });

  it('rejects a key that comes back with another fingerprint, and leaves its times alone', async () => {
    const session = await openSession(create);
    await session.claim([item({ id: 1, fingerprint: 7 })]);
    await session.commit();
    const other = { id: 1, fingerprint: 8, occurredAtMs: 5, createdAtMs: 6 };
    expect(await session.claim([other])).toEqual([{ outcome: reused, occurredAtMs: 5, createdAtMs: 6 }]);
  });

  // Mutant it catches: two items of one batch both created.
  it('judges the items of one batch in order', async () => {
    const session = await openSession(create);
    const items = [
      item({ id: 1, occurredAtMs: 3 }),
      item({ id: 1 }),
      item({ id: 1, fingerprint: 9 }),
      item({ id: 2 }),
    ];
    const judged = await session.claim(items);
    expect(judged.map(({ outcome }) => outcome)).toEqual([created, duplicate, reused, created]);
    expect(judged[1]?.occurredAtMs).toBe(3);
    expect(session.lastClaim()).toMatchObject({ created: 2, waits: true });
  });

  it('only looks at read-only items', async () => {
    const session = await openSession(create);
    const looks = [item({ id: 1, readOnly: true }), item({ id: 2 }), item({ id: 2, readOnly: true })];
    const judged = await session.claim([...looks, item({ id: 1 })]);
    expect(judged.map(({ outcome }) => outcome)).toEqual([absent, created, duplicate, created]);
  });

  // Mutant it catches: trusting the tag, or comparing a part of the id only.
  it('distinguishes ids that differ in any one bit', async () => {
    const session = await openSession(create);
    const bits = Array.from({ length: 128 }, (_, bit) => item({ id: 1, turnedBit: bit }));
    const judged = await session.claim([item({ id: 1 }), ...bits]);
    expect(judged.every(({ outcome }) => outcome === created)).toBe(true);
  });

  it('of nothing creates nothing', async () => {
    const session = await openSession(create);
    await session.claim([]);
    expect(session.lastClaim()).toMatchObject({ created: 0, waits: false });
  });
}

function severalClaims(create: CreateStoreHarness): void {
  it('wait while what they repeat is not durable yet, and no longer', async () => {
    const session = await openSession(create);
    await session.claim([item({ id: 1 })]);
    await session.claim([item({ id: 1 })]);
    expect(session.lastClaim()).toMatchObject({ created: 0, waits: true });
    await session.claim([item({ id: 1, fingerprint: 9 })]);
    expect(session.lastClaim()).toMatchObject({ created: 0, waits: true });
    await session.commit();
    await session.claim([item({ id: 1 })]);
    expect(session.lastClaim()).toMatchObject({ created: 0, waits: false });
  });

  // Mutant it catches: release leaving its keys, or the keys of claims made since.
  it('are undone from the first one released on: their keys are free, those before stay', async () => {
    const session = await openSession(create);
    await session.claim([item({ id: 1 }), item({ id: 2 })]);
    await session.commit();
    await session.claim([item({ id: 3 })]);
    await session.claim([item({ id: 4 }), item({ id: 5 })]);
    await session.claim([item({ id: 6 }), item({ id: 4 })]);
    await session.release(1);
    const judged = await session.claim([1, 2, 3, 4, 5, 6].map((id) => item({ id, readOnly: true })));
    expect(judged.map(({ outcome }) => outcome)).toEqual([
      duplicate,
      duplicate,
      duplicate,
      absent,
      absent,
      absent,
    ]);
    await session.claim([item({ id: 5, fingerprint: 9 })]);
    expect(session.lastClaim()).toMatchObject({ created: 1 });
  });

  it('that are durable survive a restart, clean or not', async () => {
    const session = await openSession(create);
    const restarts = ['killed', 'clean', 'killed', 'killed', 'clean'] as const;
    for (const [id, how] of restarts.entries()) {
      await session.claim([item({ id, occurredAtMs: 10 + id })]);
      await session.commit();
      await session.restart(how);
    }
    const judged = await session.claim(restarts.map((_, id) => item({ id })));
    const original = { outcome: duplicate, createdAtMs: 2 };
    expect(judged).toEqual(restarts.map((_, id) => ({ ...original, occurredAtMs: 10 + id })));
  });
}
