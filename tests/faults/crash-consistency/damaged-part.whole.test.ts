import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { auditOf } from '../../support/audit-of.ts';
import { compareCounters } from '../../support/compare.ts';
import { during } from '../../support/during.ts';
import { startJudged } from '../judged-instance.ts';
import { SEED } from '../short-form.ts';
import { startWorkload } from '../workload.ts';

const WITHIN = { timeout: 120_000, interval: 500 };
/** Marks of a small part are in one file. After a full disk it was empty. */
const MARKS = 'data.cmrk4';

/**
 * Promise 10: a full disk damages parts whose inserts succeeded. Red without repair of damaged parts:
 * the engine detaches such a part, and responds without it. No strong read responds before that is
 * repaired: red where none waits for it.
 */
it.each(['events', 'usage_hourly'])('what a damaged part of %s held is put back', async (table) => {
  const { instance, judged, close } = await startJudged({ LOG_LEVEL: 'error' }, { connections: 8 });
  onTestFinished(async () => void (await close({ keep: false })));
  const workload = startWorkload(judged, { seed: SEED, run: 'd' }, { senders: 2, batchItems: 20 });
  await during(workload, () => vi.waitFor(() => expect(workload.recent().length).toBeGreaterThan(4), WITHIN));
  expect(await compareCounters(judged), `seed ${SEED}`).toEqual([]);
  await instance.stop();

  truncateSync(join(partOf(instance.dataDir, table), MARKS), 0);
  await instance.start();
  expect(await compareCounters(judged), `seed ${SEED}`).toEqual([]);
  expect(instance.log()).toContain('ClickHouse detached damaged parts');
  await vi.waitFor(async () => expect(await auditOf(instance.dataDir)).toEqual([]), WITHIN);
});

/** The folder of the part of a table that was merged most often: those that it was made of are not read. */
function partOf(dataDir: string, table: string): string {
  const folder = join(dataDirAt(dataDir).warehouse, 'data', 'metergate', table);
  const levelOf = (name: string) => Number(/^\d{6}_\d+_\d+_(\d+)$/.exec(name)?.[1] ?? -1);
  const [name = ''] = readdirSync(folder).sort((a, b) => levelOf(b) - levelOf(a));
  return join(folder, name);
}
