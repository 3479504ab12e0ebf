import { createApi } from '../../support/api.ts';
import { compareBreakdowns, compareEvents, compareMonths, type Judged } from '../../support/compare.ts';
import { createLedger } from '../../support/ledger.ts';
import { createRandom } from '../../support/random.ts';
import { sendAll } from '../../support/send.ts';
import { problemsOf } from '../judged-instance.ts';
import { batchesOf } from '../replays.ts';
import { sendOptions } from '../workload.ts';
import type { FixtureStory, OpenFixture } from './open-fixture.ts';

const CONNECTIONS = 2;
const MONTHS_BEFORE_MS = [0, 31 * 86_400_000];

/**
 * Repeats all acknowledged requests of the release that wrote the data folder, which have to return
 * their first responses, and compares counters, breakdowns and stored events with them. A sentence for each
 * difference.
 */
export async function judgeFixture(origin: string, { story, keys }: OpenFixture): Promise<string[]> {
  const found: string[] = [];
  for (const mode of ['live', 'test'] as const) {
    const { world, events } = story.modes[mode];
    // A new judge each time: what the ledger learns of one opening does not count for the next.
    const ledger = createLedger(world, structuredClone(events));
    const api = createApi({ origin, key: keys[mode].secret, connections: CONNECTIONS });
    try {
      found.push(...(await judgeMode({ api, ledger, world }, story)));
    } finally {
      await api.close();
    }
  }
  return found;
}

async function judgeMode(judged: Judged, { writtenAtMs, seed }: FixtureStory): Promise<string[]> {
  const times = MONTHS_BEFORE_MS.map((before) => writtenAtMs - before);
  await sendAll(replaysOf(judged, { nowMs: writtenAtMs, seed }), sendOptions(judged));
  return await problemsOf(
    judged,
    () => compareMonths(judged, times),
    () => compareBreakdowns(judged, ['all', 'custom'], ['user', '$day']),
    compareEvents,
  );
}

/** Everything that was acknowledged once more: what each batch shows is when it was stored. */
export function replaysOf({ world, ledger }: Judged, { nowMs, seed }: { nowMs: number; seed: number }) {
  const times = { nowMs, responsesShowEvents: true, latestWithoutTimes: true } as const;
  const scope = { world, random: createRandom(seed), ...times };
  return batchesOf(
    [...ledger.events()].map(({ event }) => event),
    scope,
  );
}
