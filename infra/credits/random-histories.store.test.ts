import fc from 'fast-check';
import { expect, it } from 'vitest';
import { START_MS, walletsUnderTest } from './wallets-under-test.ts';

/*
 * Wallets in Postgres against a naive one that burns one thousandth after the other, over random histories.
 *
 * Breaks that turn it red: an expired grant burned since nobody has taken it out; the unpaid rest not paid by
 * a grant, or the grant's remainder not lowered by it; `before < due` as `before <= due - remaining`; the
 * entry of an expiry left out; `credit.depleted` told at each burn of an empty wallet, or for a grant that
 * the unpaid rest has eaten up.
 */
const HISTORIES = 520;
const STEPS_MAX = 10;
const STEP_MS = 60_000;

type Step =
  | { kind: 'grant'; thousandths: number; priority: number; lives: number | null }
  | { kind: 'burn'; thousandths: number; meterKey: string }
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
  fc.constant({ kind: 'expire' as const }),
  fc.constant({ kind: 'rest' as const }),
);

it('a wallet agrees with a naive one over random histories, and its ledger sums to it', async () => {
  const { customers, grant, burn, expire, wallets } = await walletsUnderTest();
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
    // What happens to many customers at one moment comes in one transaction, as from the settlement.
    const burns = due.flatMap(({ id, now }) => {
      if (now.kind !== 'burn') return [];
      return [{ customerId: id, amount: decimal(now.thousandths), meterKey: now.meterKey }];
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
          if (now.kind === 'burn' && now.thousandths > 0) naive.burn(now.thousandths, nowMs);
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
  for (const { id, naive } of cases) {
    const wallet = seen.get(id);
    expect(wallet ?? EMPTY).toEqual(naive.seen());
    const held = [...(wallet?.remaining.values() ?? [])].reduce((sum, units) => sum + units, 0n);
    expect(wallet?.balance ?? 0n).toBe(held);
  }
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

/** In thousandths. */
class NaiveWallet {
  readonly grants: NaiveGrant[] = [];
  unpaid = 0;
  depletions = 0;

  grant(
    id: string,
    given: { thousandths: number; priority: number; expiresAtMs: number | null; nowMs: number },
  ): void {
    this.expire(given.nowMs);
    const { thousandths, ...order } = given;
    let left = thousandths;
    while (left > 0 && this.unpaid > 0) {
      left -= 1;
      this.unpaid -= 1;
    }
    this.grants.push({ id, left, ...order });
  }

  burn(thousandths: number, nowMs: number): void {
    this.expire(nowMs);
    const before = this.balance();
    for (let taken = 0; taken < thousandths; taken += 1) {
      const [best] = this.grants.filter(({ left }) => left > 0).sort(firstToGo);
      if (best) best.left -= 1;
      else this.unpaid += 1;
    }
    if (before > 0 && this.balance() === 0) this.depletions += 1;
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

  seen() {
    const [balance, unpaid] = [BigInt(this.balance()) * THOUSANDTH, BigInt(this.unpaid) * THOUSANDTH];
    const remaining = new Map(this.grants.map(({ id, left }) => [id, BigInt(left) * THOUSANDTH]));
    return { balance, unpaid, ledger: { balance, unpaid }, remaining, depletions: this.depletions };
  }
}

function firstToGo(a: NaiveGrant, b: NaiveGrant): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  const ends = (grant: NaiveGrant) => grant.expiresAtMs ?? Number.MAX_SAFE_INTEGER;
  if (ends(a) !== ends(b)) return ends(a) - ends(b);
  if (a.nowMs !== b.nowMs) return a.nowMs - b.nowMs;
  return a.id < b.id ? -1 : 1;
}
