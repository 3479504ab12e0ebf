import { closeSync, openSync, readdirSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { dataDirAt } from '../../../infra/data-dir.ts';
import { compareCounters } from '../../compare.ts';
import { auditOf } from '../audit-of.ts';
import { during } from '../during.ts';
import { startJudged } from '../judged-instance.ts';
import { startStorm } from '../storm.ts';

const SEED = Date.now() % 1_000_000;
const WITHIN = { timeout: 120_000, interval: 500 };
/** Marks of a small part are in one file. After a full disk it was empty. */
const MARKS = 'data.cmrk4';
/** Its columns, in another one. */
const DATA = 'data.bin';

const DAMAGES: Array<[what: string, table: string, spoil: (part: string) => void]> = [
  ['events without marks', 'events', (part) => truncateSync(join(part, MARKS), 0)],
  ['sums without marks', 'usage_hourly', (part) => truncateSync(join(part, MARKS), 0)],
  ['sums in which bytes are others', 'usage_hourly', (part) => changeBytes(join(part, DATA))],
];

/**
 * Promise 10: a full disk damages parts whose inserts were answered with success, and a bad one does. Red
 * without mend-damage.ts: such a part is set aside, by the engine at its start or by set-damaged-aside.ts,
 * and answered without. The last is red without the latter: a start does not read what a part holds.
 */
it.each(DAMAGES)('what a part held is put back: %s', async (_, table, spoil) => {
  const { instance, judged, close } = await startJudged({ LOG_LEVEL: 'error' }, { connections: 8 });
  onTestFinished(async () => void (await close({ keep: false })));
  const storm = startStorm(judged, { seed: SEED, run: 'd', lanes: 2, batchItems: 20, past: [] });
  await during(storm, () => vi.waitFor(() => expect(storm.recent().length).toBeGreaterThan(4), WITHIN));
  expect(await compareCounters(judged), `seed ${SEED}`).toEqual([]);
  await instance.stop();

  spoil(partOf(instance.dataDir, table));
  await instance.start();
  await vi.waitFor(async () => expect(await auditOf(instance.dataDir)).toEqual([]), WITHIN);
  expect(instance.log()).toContain('damaged parts were set aside');
  expect(await compareCounters(judged), `seed ${SEED}`).toEqual([]);
});

/** Some of each column. */
function changeBytes(path: string): void {
  const file = openSync(path, 'r+');
  const size = statSync(path).size;
  for (let at = 40; at < size; at += 60) writeSync(file, Buffer.from([at % 251]), 0, 1, at);
  closeSync(file);
}

/** The folder of the part of a table that was merged most often: those that it was made of are not read. */
function partOf(dataDir: string, table: string): string {
  const folder = join(dataDirAt(dataDir).warehouse, 'data', 'metergate', table);
  const levelOf = (name: string) => Number(/^\d{6}_\d+_\d+_(\d+)$/.exec(name)?.[1] ?? -1);
  const [name = ''] = readdirSync(folder).sort((a, b) => levelOf(b) - levelOf(a));
  return join(folder, name);
}
