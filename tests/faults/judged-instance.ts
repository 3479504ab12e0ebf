import type { Judged } from '../support/compare.ts';
import { createLedger } from '../support/ledger.ts';
import { makeWorld } from '../support/make-world.ts';
import { type OpenedInstance, type OpenOptions, openPrepared } from '../support/open-instance.ts';

/** A Metergate with a world of customers and meters, and the ledger of what it acknowledges. */
export interface JudgedInstance extends Pick<OpenedInstance, 'instance' | 'close'> {
  judged: Judged;
}

/** What was started is ended when it rejects. */
export async function startJudged(
  environment: Record<string, string>,
  options: OpenOptions,
): Promise<JudgedInstance> {
  return await openPrepared(environment, options, async ({ instance, api, close }) => {
    const world = await makeWorld(api);
    return { instance, judged: { api, world, ledger: createLedger(world) }, close };
  });
}
