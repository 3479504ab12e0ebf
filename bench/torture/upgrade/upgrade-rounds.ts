import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { dataDirAt } from '../../../infra/data-dir.ts';
import { createRandom, type Random } from '../../random.ts';
import { type RoundReport, roundSeed, type TorturePromise } from '../promise.ts';
import { judgeFixture, type OpenedInstance } from './judge-fixture.ts';
import { type OpenFixture, openFixture } from './open-fixture.ts';
import { auditOf, makeNextRelease, type Release, startRelease, THIS_RELEASE } from './release.ts';

export const CHANGED_VIEW = join('bench', 'torture', 'upgrade', 'changed-view.sql');

/**
 * Each round takes the kept data folder anew and kills what starts on it, at moments within the start,
 * until it is let come up. By turns it is this release and one that changes a view.
 */
export const upgradesKilled: TorturePromise = {
  promises: [19],
  title: 'a folder of the main job is opened, and a view changed, while everything is killed',
  rounds: { short: 2, long: 40 },
  async open({ seed }) {
    const next = makeNextRelease(CHANGED_VIEW);
    let leftAt: string | undefined;
    return {
      async round(number) {
        const fixture = openFixture();
        const program = number % 2 === 0 ? next.program : THIS_RELEASE;
        const report = await upgradeRound(fixture, program, createRandom(roundSeed(seed, number)));
        if (report.problems.length > 0) leftAt = fixture.folder;
        else rmSync(fixture.folder, { recursive: true, force: true });
        return report;
      },
      async close({ keep }) {
        rmSync(next.folder, { recursive: true, force: true });
        if (!keep && leftAt !== undefined) rmSync(leftAt, { recursive: true, force: true });
        return keep ? leftAt : undefined;
      },
    };
  },
};

const KILLS_MAX = 4;
/** A start takes some two seconds; the view is changed in the second one. */
const KILLED_WITHIN_MS = 2_200;
const VICTIMS = ['control', 'control', 'supervisor', 'ingest'] as const;

async function upgradeRound(fixture: OpenFixture, program: string, random: Random): Promise<RoundReport> {
  const counts: Record<string, number> = { kills: 0, starts: 0, eventsJudged: 0 };
  const { dataDir, story } = fixture;
  let release = start();
  try {
    for (let left = 1 + random.below(KILLS_MAX); left > 0; left--) {
      await pass(random.below(KILLED_WITHIN_MS));
      const victim = random.pick(VICTIMS);
      if (release.kill(victim)) counts.kills = (counts.kills ?? 0) + 1;
      if (victim !== 'supervisor') continue;
      await release.ended;
      release = start();
    }
    const instance = await comeUp();
    counts.eventsJudged = Object.values(story.modes).reduce((sum, { events }) => sum + events.length, 0);
    const problems = await judgeFixture(instance, story);
    const audit = await auditOf(dataDir);
    if (!audit.includes(' 0 differences.')) problems.push(`audit: ${audit}`);
    const exitCode = await release.stop();
    if (exitCode !== 0) problems.push(`an ordinary stop ended with ${exitCode}`);
    return { counts, problems };
  } finally {
    await release.end();
  }

  function start(): Release {
    counts.starts = (counts.starts ?? 0) + 1;
    return startRelease(program, { DATA_DIR: dataDir, LOG_LEVEL: 'error' });
  }

  /** A process that died three times before it was ready once is given up: then the operator starts again. */
  async function comeUp(): Promise<OpenedInstance> {
    const origin = await release.ready();
    if (origin !== undefined) return { origin, keys: demoKeys(fixture) };
    await release.end();
    release = start();
    return await comeUp();
  }
}

export function demoKeys({ dataDir }: OpenFixture): OpenedInstance['keys'] {
  return JSON.parse(readFileSync(dataDirAt(dataDir).demoKeys, 'utf8')) as OpenedInstance['keys'];
}
