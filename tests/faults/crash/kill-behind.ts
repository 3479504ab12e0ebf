import { performance } from 'node:perf_hooks';
import { setTimeout as pass } from 'node:timers/promises';
import type { Role } from '../../support/instance.ts';
import { sendAll } from '../../support/send.ts';
import { waitUntilCounted } from '../../support/wait-until-counted.ts';
import { replaysOf } from '../replays.ts';
import { sendOptions } from '../workload.ts';
import { cutOffLoads } from './cut-off-loads.ts';
import { inALoad } from './idle-kills.ts';
import { KILLS, type Kill, mustBeAnother, type SeenOfKill } from './kill-scenario.ts';

const CATCH_UP_PATIENCE_MS = 60_000;

/** Kills while events are being loaded, and waits until everything acknowledged is counted again. */
export async function killBehind({ scenario, workload, random }: Kill, victim: Role): Promise<SeenOfKill> {
  const { instance, judged } = scenario;
  await waitUntilCounted(judged, CATCH_UP_PATIENCE_MS);
  await pass(random.below(400));
  const pid = instance.pid(victim);
  const cutOffBefore = cutOffLoads(instance);
  await instance.kill(victim);
  const killedAt = performance.now();
  if (victim === 'supervisor') await instance.start();
  await waitUntilCounted(judged, CATCH_UP_PATIENCE_MS);
  mustBeAnother(instance, victim, pid);
  const peaks = { caughtUpMs: Math.round(performance.now() - killedAt) };
  // What the kill had cut off is taken up before what was acknowledged after it.
  const met = cutOffLoads(instance) > cutOffBefore ? 1 : 0;
  const replays = replaysOf(workload.recent(), { world: judged.world, random });
  const { items } = await sendAll(replays, sendOptions(judged));
  scenario.restartedAt = performance.now();
  return { counts: { replaysOfAcknowledged: items, [inALoad(KILLS[victim])]: met }, peaks };
}
