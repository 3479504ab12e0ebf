import { expect, it } from 'vitest';
import { callDone, createApi } from '../support/api.ts';
import { numberText } from '../support/exact.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { testFolder } from '../support/test-folder.ts';
import { NODE_CLIENT } from './node-client.ts';
import { startTracking } from './tracking-process.ts';

/** An outage of hours, tracked in seconds. */
const COUNT = 100_000;
const RSS_MIB_MAX = 250;
const NOWHERE = 'http://127.0.0.1:9';

const instance = await instanceOfThisFile();

/** Red when what waits is in memory as well, or what a spool has is not sent by the next process. */
it('what was tracked in an outage is sent by the next process, in bounded memory', async () => {
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
  const tracking = { ...NODE_CLIENT, folder };
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
});
