import { rmSync } from 'node:fs';
import { expect, it, onTestFailed, onTestFinished } from 'vitest';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { EXIT } from '../../../infra/platform/exit-code.ts';
import { auditOf } from '../../support/audit-of.ts';
import { judgeFixture, type OpenFixture, openFixture } from './fixture.ts';
import { makeNextRelease, type Release, startRelease, THIS_RELEASE } from './release.ts';
import { queryWarehouse, warehouseMigrations } from './stored-sums.ts';
import { HOURS } from './upgrade-rounds.ts';

/*
 * Promise 19, short form: the data folder that the last commit of the main job left, killed between an
 * insert and its mark, under a release that changes the view of the hourly sums.
 *
 * Red when the view is changed before the pending range was sent again, by what the log says and by nothing
 * else: its 158 events would be counted twice, but what is sent again is compared with what is stored.
 */
it('a folder of the main job, killed in the middle, is exact under a release with another view', async () => {
  const fixture = fixtureOfTest();
  const next = nextReleaseOfTest();
  const release = startOfTest(next.program, { DATA_DIR: fixture.dataDir, LOG_LEVEL: 'info' });
  const origin = (await release.ready()) ?? '';
  expect(await judgeFixture(origin, fixture)).toEqual([]);
  expect(await auditOf(fixture.dataDir, HOURS)).toEqual([]);
  expect(release.stderr()).toMatch(/"state":"pending".*ends a range before a view changes/);
  expect(await release.stop()).toBe(EXIT.stopped);
  expect(await newColumnDiffers(fixture)).toBe(0);

  const former = startOfTest(THIS_RELEASE, { DATA_DIR: fixture.dataDir, LOG_LEVEL: 'fatal' });
  expect(await former.ended()).toBe(EXIT.dataRejected);
  const newer = warehouseMigrations().length + 1;
  expect(former.stderr()).toMatch(
    new RegExp(`^The warehouse is at migration ${newer} .*: start a release that is as new\\.$`, 'm'),
  );
  expect(former.stdout()).toBe('');
});

it('the same folder is exact under this release', async () => {
  const fixture = fixtureOfTest();
  const release = startOfTest(THIS_RELEASE, { DATA_DIR: fixture.dataDir, LOG_LEVEL: 'warn' });
  const origin = (await release.ready()) ?? '';
  expect(await judgeFixture(origin, fixture)).toEqual([]);
  expect(await auditOf(fixture.dataDir, HOURS)).toEqual([]);
  expect(await release.stop()).toBe(EXIT.stopped);
});

function fixtureOfTest(): OpenFixture {
  const fixture = openFixture();
  onTestFinished(() => rmSync(fixture.folder, { recursive: true, force: true }));
  return fixture;
}

function nextReleaseOfTest(): { program: string } {
  const next = makeNextRelease();
  onTestFinished(() => rmSync(next.folder, { recursive: true, force: true }));
  return next;
}

function startOfTest(program: string, env: Record<string, string>): Release {
  const release = startRelease(program, env);
  onTestFinished(() => release.end());
  onTestFailed(() => {
    process.stderr.write(`${release.stderr()}\n`);
  });
  return release;
}

/** Hours whose new column is not what the stored events say. */
async function newColumnDiffers({ dataDir }: OpenFixture): Promise<number> {
  const hour = 'environment, customer_id, meter_key';
  const sql = `SELECT count() AS hours FROM
      (SELECT ${hour}, hour, sum(of_next_release) AS seen FROM metergate.usage_hourly GROUP BY ALL) AS rollup
    FULL JOIN
      (SELECT ${hour}, toStartOfHour(occurred_at) AS hour, sum(value) AS due
       FROM metergate.events FINAL GROUP BY ALL) AS stored
    USING (${hour}, hour) WHERE seen != due`;
  const [row] = await queryWarehouse<{ hours: string }>(dataDirAt(dataDir), sql);
  return Number(row?.hours);
}
