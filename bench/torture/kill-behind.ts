import { performance } from 'node:perf_hooks';
import { setTimeout as pass } from 'node:timers/promises';
import { getPatiently } from '../api.ts';
import type { Judged } from '../compare.ts';
import type { Role } from '../instance.ts';
import { sendAll } from '../send.ts';
import type { Kill, SeenOfKill } from './kill-scene.ts';
import { replaysOf } from './replays.ts';
import { sendOptions } from './storm.ts';

const CATCH_UP_PATIENCE_MS = 60_000;

/** Kills while events are being loaded, and waits until everything acknowledged is counted again. */
export async function killBehind({ scene, storm, random }: Kill, victim: Role): Promise<SeenOfKill> {
  const { instance, judged } = scene;
  await waitUntilCounted(judged);
  await pass(random.below(400));
  await instance.kill(victim);
  const killedAt = performance.now();
  if (victim === 'supervisor') await instance.start();
  await waitUntilCounted(judged);
  const peaks = { caughtUpMs: Math.round(performance.now() - killedAt) };
  const replays = replaysOf(storm.recent(), { world: judged.world, random });
  const { items } = await sendAll(replays, sendOptions(judged));
  scene.restartedAt = performance.now();
  return { counts: { replaysOfAcknowledged: items }, peaks };
}

/** A strong read answers when all that was acknowledged before it is counted. */
async function waitUntilCounted({ api, world }: Judged): Promise<void> {
  const path = `/usage/${world.customers[0]?.id}/api_calls?consistency=strong`;
  const { status } = await getPatiently(api, path, CATCH_UP_PATIENCE_MS);
  if (status !== 200) throw new Error(`${path} answered ${status}`);
}
