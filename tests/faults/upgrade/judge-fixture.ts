import { createApi } from '../../support/api.ts';
import { compareBreakdowns, compareEvents, compareMonths, type Judged } from '../../support/compare.ts';
import { createLedger } from '../../support/ledger.ts';
import { createRandom } from '../../support/random.ts';
import { sendAll } from '../../support/send.ts';
import type { FixtureStory, Mode } from './fixture-story.ts';
import { replayRequests } from './replay-requests.ts';

export interface OpenedInstance {
  origin: string;
  /** Of the demo workspace, by mode. */
  keys: Record<Mode, { secret: string }>;
}

const CONNECTIONS = 2;
const PATIENCE_MS = 20_000;
const MONTHS_BEFORE_MS = [0, 31 * 86_400_000];

/**
 * Repeats all acknowledged requests of the release that wrote the data folder, which have to return
 * their first responses, and compares counters, breakdowns and stored events with them. A sentence for each
 * difference.
 */
export async function judgeFixture(instance: OpenedInstance, story: FixtureStory): Promise<string[]> {
  const found: string[] = [];
  for (const mode of ['live', 'test'] as const) {
    const { world, events } = story.modes[mode];
    // A new judge each time: what the ledger learns of one opening does not count for the next.
    const ledger = createLedger(world, structuredClone(events));
    const key = instance.keys[mode].secret;
    const api = createApi({ origin: instance.origin, key, connections: CONNECTIONS });
    try {
      found.push(...(await judgeMode({ api, ledger, world }, story)));
    } finally {
      await api.close();
    }
  }
  return found;
}

async function judgeMode(judged: Judged, { writtenAtMs, seed }: FixtureStory): Promise<string[]> {
  const { api, ledger, world } = judged;
  const times = MONTHS_BEFORE_MS.map((before) => writtenAtMs - before);
  const scope = {
    world,
    nowMs: writtenAtMs,
    random: createRandom(seed),
    responsesShowEvents: true,
    latestWithoutTimes: true as const,
  };
  const replays = replayRequests(ledger.events(), scope);
  await sendAll(replays, { api, ledger, connections: CONNECTIONS, patienceMs: PATIENCE_MS });
  return [
    ...ledger.problems(),
    ...(await compareMonths(judged, times)),
    ...(await compareBreakdowns(judged, ['all', 'custom'], ['user', '$day'])),
    ...(await compareEvents(judged)),
  ];
}
