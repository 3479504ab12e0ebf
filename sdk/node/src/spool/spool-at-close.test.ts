import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { seenInTime } from '../../../../tests/support/in-time.ts';
import { testFolder } from '../../../../tests/support/test-folder.ts';
import { startBatchServer } from '../meter/batch-server-under-test.ts';
import { IN_TIME, keyed, openMeter } from '../meter/meter-under-test.ts';
import { openSpool } from './spool.ts';

it('a spool that is well at the close takes what is in memory, sent or not', async () => {
  const folder = join(testFolder(), 'later');
  writeFileSync(folder, '');
  const { meter, problems } = openMeter({
    url: 'http://127.0.0.1:1',
    spool: openSpool({ folder: join(folder, 'spool') }),
  });
  for (const one of keyed(600)) meter.track(one);
  // A batch of them is being sent by now.
  await seenInTime(() => problems.find(({ code }) => code === 'no_response'), IN_TIME, 'a request');
  renameSync(folder, `${folder}.old`);
  mkdirSync(folder);
  await meter.close({ timeoutMs: 0 });
  const server = await startBatchServer();
  const next = openMeter({ url: server.url, spool: openSpool({ folder: join(folder, 'spool') }) });
  expect(await next.meter.flush()).toMatchObject({ sent: 600, waiting: 0 });
});
