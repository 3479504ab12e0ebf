import fc from 'fast-check';
import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { START_MS, walletsUnderTest } from './wallets-under-test.ts';

/*
 * Wallets in Postgres against a naive one that burns one thousandth after the other, over random histories.
 *
 * Mutants that turn it red: an expired grant burned because its expiry is not recorded yet; the unpaid rest
 * not paid by a grant, or the grant's remainder not lowered by it; `before < due` as `before <= due -
 * remaining`; the entry of an expiry left out; credits that are given back going to grants before the unpaid
 * rest, to an expired grant, to the first grant, or to another meter's; `credit.depleted` emitted at each
 * burn of an empty wallet, or for a grant that the unpaid rest has used up.
 */
const HISTORIES = 700;
const STEPS_MAX = 14;
const STEP_MS = 60_000;

type Step =
  | { kind: 'grant'; thousandths: number; priority: number; lives: number | null }
  | { kind: 'burn' | 'giveBack'; thousandths: number; meterKey: string }
  | { kind: 'expire' }
  | { kind: 'rest' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('grant' as const),
    thousandths: fc.integer({ min: 1, max: 30 }),
    priority: fc.integer({ min: 0, max: 2 }),
    lives: fc.option(fc.integer({ min: 1, max: 4 })),
  }),
  fc.record({
    kind: fc.constant('burn' as const),
    thousandths: fc.integer({ min: 0, max: 40 }),
    meterKey: fc.constantFrom('calls', 'bytes'),
  }),
  fc.record({
    kind: fc.constant('giveBack' as const),
    thousandths: fc.integer({ min: 1, max: 30 }),
    meterKey: fc.constantFrom('calls', 'bytes'),
  }),
  fc.constant({ kind: 'expire' as const }),
  fc.constant({ kind: 'rest' as const }),
);

it('a wallet agrees with a naive one over random histories, and its ledger sums to it', async () => {
  const { pool, customers, grant, burn, expire, wallets } = await walletsUnderTest();
  const ids = await customers(HISTORIES);
  const arbitrary = fc.array(step, { minLength: 1, maxLength: STEPS_MAX });
  const histories = fc.sample(arbitrary, { numRuns: HISTORIES });
  const cases = ids.map((id, at) => ({ id, steps: histories[at] ?? [], naive: new NaiveWallet() }));
  for (let at = 0; at < STEPS_MAX; at += 1) {
    const nowMs = START_MS + at * STEP_MS;
    const due = cases.flatMap(({ id, steps, naive }) => {
      const now = steps[at];
      return now ? [{ id, now, naive }] : [];
    });
    // What happens to many customers at one time comes in one transaction, as from the settlement.
    const burns = due.flatMap(({ id, now, naive }) => {
      if (now.kind !== 'burn' && now.kind !== 'giveBack') return [];
      const { meterKey, thousandths } = now;
      const burned = now.kind === 'burn' ? thousandths : -Math.min(thousandths, naive.burnedBy(meterKey));
      return [{ customerId: id, amount: decimal(burned), meterKey }];
    });
    await burn(burns, nowMs);
    const expiring = due.filter(({ now }) => now.kind === 'expire');
    await expire(
      expiring.map(({ id }) => id),
      nowMs,
    );
    const granting = due.values();
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (const { id, now, naive } of granting) {
          if (now.kind === 'burn' && now.thousandths > 0) naive.burn(now, nowMs);
          if (now.kind === 'giveBack') naive.giveBack(now, nowMs);
          if (now.kind === 'expire') naive.expire(nowMs);
          if (now.kind !== 'grant') continue;
          const expiresAtMs = now.lives === null ? null : nowMs + now.lives * STEP_MS;
          const what = { amount: decimal(now.thousandths), priority: now.priority, expiresAtMs, nowMs };
          naive.grant(await grant(id, what), { ...now, expiresAtMs, nowMs });
        }
      }),
    );
  }
  const seen = await wallets(ids);
  const uses = await usesOf(pool, ids);
  for (const { id, naive } of cases) {
    const wallet = seen.get(id);
    expect(wallet ?? EMPTY).toEqual(naive.seen());
    const held = [...(wallet?.remaining.values() ?? [])].reduce((sum, units) => sum + units, 0n);
    expect(wallet?.balance ?? 0n).toBe(held);
    expect(uses.get(id) ?? {}).toEqual(naive.seenUses());
  }
  expect(cases.filter(({ naive }) => naive.lost > 0).length).toBeGreaterThan(10);
  expect(cases.filter(({ naive }) => naive.depletions > 1).length).toBeGreaterThan(10);
}, 240_000);

const EMPTY = {
  balance: 0n,
  unpaid: 0n,
  ledger: { balance: 0n, unpaid: 0n },
  remaining: new Map(),
  depletions: 0,
};
const THOUSANDTH = 10n ** 21n;

function decimal(thousandths: number): string {
  return (thousandths / 1000).toFixed(3);
}

interface NaiveGrant {
  id: string;
  left: number;
  priority: number;
  expiresAtMs: number | null;
  nowMs: number;
}

type Burned = { thousandths: number; meterKey: string };

interface Paid {
  meterKey: string;
  /** Of the grant that paid; '' is unpaid. */
  grantId: string;
}

/** In thousandths. */
class NaiveWallet {
  readonly grants: NaiveGrant[] = [];
  /** One for each that was burned. */
  readonly paid: Paid[] = [];
  /** Given back to grants that had expired. */
  lost = 0;
  depletions = 0;

  grant(
    id: string,
    given: { thousandths: number; priority: number; expiresAtMs: number | null; nowMs: number },
  ): void {
    this.expire(given.nowMs);
    const { thousandths, ...order } = given;
    let left = thousandths;
    for (const owed of this.paid
      .filter(({ grantId }) => grantId === '')
      .sort(byMeter)
      .slice(0, left)) {
      owed.grantId = id;
      left -= 1;
    }
    this.grants.push({ id, left, ...order });
  }

  burn({ thousandths, meterKey }: Burned, nowMs: number): void {
    this.expire(nowMs);
    const before = this.balance();
    for (let taken = 0; taken < thousandths; taken += 1) {
      const [best] = this.grants.filter(({ left }) => left > 0).sort(firstToGo);
      if (best) best.left -= 1;
      this.paid.push({ meterKey, grantId: best?.id ?? '' });
    }
    if (before > 0 && this.balance() === 0) this.depletions += 1;
  }

  /** First to what is unpaid, of whichever meter, then to the last grant that paid, unless it has expired. */
  giveBack({ thousandths, meterKey }: Burned, nowMs: number): void {
    if (this.burnedBy(meterKey) === 0) return;
    this.expire(nowMs);
    for (let given = 0; given < thousandths && this.burnedBy(meterKey) > 0; given += 1) {
      const own = this.paid.filter((one) => one.meterKey === meterKey);
      const last = [...this.grants]
        .sort(firstToGo)
        .findLast(({ id }) => own.some((one) => one.grantId === id));
      const back =
        own.find(({ grantId }) => grantId === '') ?? own.find(({ grantId }) => grantId === last?.id);
      this.paid.splice(this.paid.indexOf(back as Paid), 1);
      if (!back || back.grantId === '' || !last) continue;
      const owed = this.paid.find(({ grantId }) => grantId === '');
      if (owed) owed.grantId = last.id;
      else if (last.expiresAtMs === null || last.expiresAtMs > nowMs) last.left += 1;
      else this.lost += 1;
    }
  }

  burnedBy(meterKey: string): number {
    return this.paid.filter((one) => one.meterKey === meterKey).length;
  }

  expire(nowMs: number): void {
    const before = this.balance();
    for (const grant of this.grants) {
      if (grant.expiresAtMs !== null && grant.expiresAtMs <= nowMs) grant.left = 0;
    }
    if (before > 0 && this.balance() === 0) this.depletions += 1;
  }

  balance(): number {
    return this.grants.reduce((sum, { left }) => sum + left, 0);
  }

  unpaid(): number {
    return this.paid.filter(({ grantId }) => grantId === '').length;
  }

  seenUses(): Record<string, number> {
    const uses: Record<string, number> = {};
    for (const { meterKey, grantId } of this.paid) {
      const name = `${meterKey} ${grantId}`;
      uses[name] = (uses[name] ?? 0) + 1;
    }
    return uses;
  }

  seen() {
    const [balance, unpaid] = [BigInt(this.balance()) * THOUSANDTH, BigInt(this.unpaid()) * THOUSANDTH];
    const remaining = new Map(this.grants.map(({ id, left }) => [id, BigInt(left) * THOUSANDTH]));
    return { balance, unpaid, ledger: { balance, unpaid }, remaining, depletions: this.depletions };
  }
}

/** By customer: which meter has burned how many thousandths of which grant. */
async function usesOf(pool: Pool, customerIds: string[]): Promise<Map<string, Record<string, number>>> {
  const { rows } = await pool.query<{ id: string; uses: Record<string, number> }>(
    `SELECT customer_id AS id, json_object_agg(meter_key || ' ' || grant_id, 1000 * amount) AS uses
       FROM credit_uses WHERE customer_id = ANY ($1) GROUP BY customer_id`,
    [customerIds],
  );
  return new Map(rows.map(({ id, uses }) => [id, uses]));
}

function byMeter(a: Paid, b: Paid): number {
  return a.meterKey < b.meterKey ? -1 : Number(a.meterKey > b.meterKey);
}

function firstToGo(a: NaiveGrant, b: NaiveGrant): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  const ends = (grant: NaiveGrant) => grant.expiresAtMs ?? Number.MAX_SAFE_INTEGER;
  if (ends(a) !== ends(b)) return ends(a) - ends(b);
  if (a.nowMs !== b.nowMs) return a.nowMs - b.nowMs;
  return a.id < b.id ? -1 : 1;
}
