import type { Instance } from '../../support/instance.ts';

/** What the aggregator says, at level info, when it takes up a range that was left unsettled. */
export const TAKEN_UP = 'continues with an unsettled range';

/** How often a range was taken up so far that was frozen and not yet marked as loaded. */
export function cutOffLoads({ written }: Pick<Instance, 'written'>): number {
  const lines = written().split('\n');
  return lines.filter((line) => line.includes(TAKEN_UP) && line.includes('"state":"pending"')).length;
}
