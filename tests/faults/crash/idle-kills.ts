import type { Instance } from '../../support/instance.ts';

type Counts = Record<string, number>;

/** What the kills of a run did not meet, though they were many enough to: then they have shown nothing. */
export function idleKills(seen: Counts): string[] {
  return [...idleKillsOfDataPlane(seen), ...BEHIND.flatMap((victim) => idleKillsBehind(seen, victim))];
}

/** Of two kills of the data plane in a row one at least must come with a response. */
const CONCLUSIVE_KILLS_MIN = 2;

/** A kill shows nothing of a data plane that has no request in flight. */
function idleKillsOfDataPlane({ killsOfDataPlane = 0, killsWithResponse = 0, killsOfRequests = 0 }: Counts) {
  if (killsOfDataPlane < CONCLUSIVE_KILLS_MIN) return [];
  const none = `none of ${killsOfDataPlane} kills of the data plane`;
  return [
    ...(killsWithResponse === 0 ? [`${none} came with a response`] : []),
    ...(killsOfRequests === 0 ? [`${none} cut off a request in flight`] : []),
  ];
}

/** A supervisor takes the control side with it in order: that finishes its load. */
const BEHIND = [
  { kills: 'killsOfControlSide', named: 'the control side' },
  { kills: 'killsOfPostgres', named: 'Postgres' },
];

/** Nine of ten are in a load: of so many none is only where the load, or the search, is at fault. */
const KILLS_BEHIND_MIN = 20;

function idleKillsBehind(seen: Counts, { kills, named }: (typeof BEHIND)[number]): string[] {
  const all = seen[kills] ?? 0;
  if (all < KILLS_BEHIND_MIN || (seen[inALoad(kills)] ?? 0) > 0) return [];
  return [`none of ${all} kills of ${named} cut off the load of a range`];
}

/** The count of those kills that left a range frozen and not loaded. */
export function inALoad(kills: string): string {
  return `${kills}InALoad`;
}

/** What the aggregator logs, at level info, when it takes up a range that was left unsettled. */
export const TAKEN_UP = 'continues with an unsettled range';

/** How often a range was taken up so far that was frozen and not yet marked as loaded. */
export function cutOffLoads({ written }: Pick<Instance, 'written'>): number {
  const lines = written().split('\n');
  return lines.filter((line) => line.includes(TAKEN_UP) && line.includes('"state":"pending"')).length;
}
