import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OUTCOME } from '../idempotency-store.ts';
import {
  type CreateStoreHarness,
  type Item,
  type Judged,
  type Session,
  startSession,
} from './idempotency-session.ts';

/** Twelve ids and two fingerprints: most items meet a key that is known, pending, released or forgotten. */
const items = fc.array(
  fc.record({
    id: fc.nat(11),
    fingerprint: fc.nat(1),
    occurredAtMs: fc.nat(1e6),
    createdAtMs: fc.nat(1e6),
    readOnly: fc.boolean(),
  }),
  { maxLength: 6 },
);

const acts = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('claim' as const), items }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('commit' as const), count: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), nth: fc.nat(3) }) },
);

const actsAndKills = fc.oneof(
  { weight: 14, arbitrary: acts },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('restart' as const),
      how: fc.constantFrom('clean' as const, 'killed' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('die behind a write' as const), count: fc.nat(3) }) },
);

export function anySequence(create: CreateStoreHarness, afterKill: 'reads the log' | 'keeps claims'): void {
  it('ends as a plain map would', async () => {
    const act: fc.Arbitrary<Act> = afterKill === 'reads the log' ? actsAndKills : acts;
    const sequences = fc.array(act, { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(sequences, async (acts) => {
        const session = await startSession(create);
        try {
          await follow(session, acts);
        } finally {
          await session.close();
        }
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });
}

type Act = typeof actsAndKills extends fc.Arbitrary<infer T> ? T : never;

async function follow(session: Session, acts: Act[]): Promise<void> {
  const model = createModel();
  for (const one of acts) {
    if (one.kind === 'claim') {
      const expected = model.claim(one.items);
      expect(await session.claim(one.items)).toEqual(expected.judged);
      expect(session.lastClaim()).toMatchObject({ created: expected.created, waits: expected.waits });
    } else if (one.kind === 'release') {
      model.release(one.nth);
      await session.release(one.nth);
    } else {
      const count = one.kind === 'restart' ? 0 : Math.min(one.count, session.open());
      model.commit(count);
      if (one.kind === 'commit') await session.commit(count);
      else {
        if (count > 0) await session.commit(count, 'unconfirmed');
        model.release(0);
        await session.restart(one.kind === 'restart' ? one.how : 'killed');
      }
    }
  }
}

interface Known {
  item: Item;
  /** The number of the claim that created it. */
  claim: number;
}

/** The same promise, kept by a map. Claims [durable, claims) are open. */
function createModel() {
  const known = new Map<number, Known>();
  let durable = 0;
  let claims = 0;

  function judge(item: Item): Judged {
    const { occurredAtMs, createdAtMs } = item;
    const original = known.get(item.id)?.item;
    if (original && original.fingerprint !== item.fingerprint) {
      return { outcome: OUTCOME.reused, occurredAtMs, createdAtMs };
    }
    if (original) {
      const times = { occurredAtMs: original.occurredAtMs, createdAtMs: original.createdAtMs };
      return { outcome: OUTCOME.duplicate, ...times };
    }
    if (item.readOnly) return { outcome: OUTCOME.absent, occurredAtMs, createdAtMs };
    known.set(item.id, { item, claim: claims });
    return { outcome: OUTCOME.created, occurredAtMs, createdAtMs };
  }

  return {
    claim(items: Item[]) {
      let waits = false;
      const judged = items.map((item) => {
        waits ||= (known.get(item.id)?.claim ?? -1) >= durable;
        return judge(item);
      });
      claims++;
      return { judged, waits, created: judged.filter(({ outcome }) => outcome === OUTCOME.created).length };
    },
    commit(count: number) {
      durable += count;
    },
    release(nth: number) {
      for (const [id, { claim }] of known) if (claim >= durable + nth) known.delete(id);
      claims = Math.min(claims, Math.max(durable, durable + nth));
    },
  };
}
