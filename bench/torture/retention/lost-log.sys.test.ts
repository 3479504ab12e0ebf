import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dataDirAt } from '../../../infra/data-dir.ts';
import { compareCounters } from '../../compare.ts';
import { planRequests } from '../../generator.ts';
import { sendAll } from '../../send.ts';
import { auditOf } from '../audit-of.ts';
import { startJudged } from '../judged-instance.ts';
import { compareRows } from '../stored-events.ts';
import { whileStopped } from '../while-stopped.ts';

const SEED = 20_261_123;
const CONNECTIONS = 4;
const ITEMS = 4_000;

/*
 * Postgres and ClickHouse are there, the disk of the data plane is not. Red with the break
 * keys-of-a-lost-log-forgotten.
 */
it('a new log takes the place of one that is lost for good, its keys known', async () => {
  const { instance, judged, close } = await startJudged({ LOG_LEVEL: 'warn' }, { connections: CONNECTIONS });
  const nowMs = Date.now();
  const { api, ledger, world } = judged;
  const send = (run: string) => {
    const requests = planRequests({ seed: SEED, run, items: ITEMS, nowMs, world });
    return sendAll(requests, { api, ledger, connections: CONNECTIONS, patienceMs: 60_000 });
  };
  const paths = dataDirAt(instance.dataDir);
  const loseKeys = () => rmSync(paths.keys, { recursive: true });
  try {
    await send('before');
    expect(await compareCounters(judged)).toEqual([]);
    expect(await instance.stop()).toBe(0);
    rmSync(paths.log, { recursive: true });
    loseKeys();
    const consent = join(paths.log, 'begin-anew');
    await expect(instance.start()).rejects.toThrow(`make the empty file ${consent}, and start again`);

    writeFileSync(consent, '');
    await instance.start();
    for (const run of ['before', 'after']) await send(run);
    expect([...ledger.problems(), ...(await compareCounters(judged))]).toEqual([]);
    expect(readdirSync(paths.log)).not.toContain('begin-anew');

    await whileStopped(instance.pid('supervisor'), async () => {
      await instance.kill('data plane');
      loseKeys();
    });
    for (const run of ['before', 'after']) await send(run);
    expect([...ledger.problems(), ...(await compareCounters(judged))]).toEqual([]);
    // What came by the log before this one cannot be compared with this one.
    expect(await auditOf(instance.dataDir, { hoursMin: 0 })).toEqual([]);
    expect(await instance.stop()).toBe(0);
    expect(await compareRows(instance.dataDir, ledger)).toEqual([]);
  } finally {
    await close({ keep: false });
  }
}, 300_000);
