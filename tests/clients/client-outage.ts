import { expect } from 'vitest';
import { callDone, createApi } from '../support/api.ts';
import { numberText } from '../support/exact.ts';
import type { Instance } from '../support/instance.ts';
import { testFolder } from '../support/test-folder.ts';
import { startTracking, type TrackingClient } from './tracking-process.ts';

/** An outage of hours, tracked in seconds. */
const COUNT = 100_000;
const RSS_MIB_MAX = 250;
const NOWHERE = 'http://127.0.0.1:9';

/** One process tracks without a server and is killed; the next one sends all of it, in bounded memory. */
export async function expectOutageMadeUp({ command }: TrackingClient, instance: Instance): Promise<void> {
  const key = instance.keys().live.secret;
  const api = createApi({ origin: instance.origin, key, connections: 1 });
  await callDone(api, 'POST', '/customers', { name: 'T', email: 'a@b.example', externalId: 'tracked' });
  const folder = testFolder();
  const environment = {
    TRACK_KEY: key,
    TRACK_SPOOL: `${folder}/spool`,
    TRACK_PER_TURN: '500',
    TRACK_TIMEOUT_MS: '15000',
    TRACK_COUNT: String(COUNT),
  };
  const tracking = { command, folder };
  const first = startTracking({ ...tracking, environment: { ...environment, TRACK_URL: NOWHERE }, run: 'a' });
  await first.hasTracked(COUNT);
  await first.kill();
  const next = { ...environment, TRACK_URL: instance.origin, TRACK_COUNT: '0' };
  const stats = await startTracking({ ...tracking, environment: next, run: 'b' }).ended(120_000);
  expect(stats).toMatchObject({ sent: COUNT, rejected: 0, waiting: 0, damagedBytes: 0 });
  expect(stats.rssPeakMib).toBeLessThan(RSS_MIB_MAX);
  const { current } = await callDone(api, 'GET', '/usage/tracked/tracked?consistency=strong');
  expect(numberText(current)).toBe(String((COUNT * (COUNT + 1)) / 2));
  await api.close();
}
