import { rmSync } from 'node:fs';
import { setTimeout as pass } from 'node:timers/promises';
import { poll } from '../../../infra/platform/poll.ts';
import { auditOf } from '../../support/audit-of.ts';
import { lacking } from '../../support/machine-requirements.ts';
import { quietPort } from '../../support/quiet-port.ts';
import type { Random } from '../../support/random.ts';
import type { FaultPromise, RoundReport } from '../promise.ts';
import { judgeFixture, type OpenFixture, openFixture } from './fixture.ts';
import { makeNextRelease, type Release, startRelease, THIS_RELEASE } from './release.ts';

/**
 * Each round copies the kept data folder and kills what starts on it, at times within the start,
 * until it is let come up. By turns it is this release and one that changes a view.
 */
export const upgradesKilled: FaultPromise = {
  promises: [19],
  title: 'a folder of the main job is opened, and a view changed, while everything is killed',
  rounds: { short: 2, long: 40 },
  lacks: () => lacking('tar'),
  async open({ onEnd }) {
    const next = makeNextRelease();
    onEnd(async () => rmSync(next.folder, { recursive: true, force: true }));
    return {
      async round({ number, random }) {
        const fixture = openFixture();
        const program = number % 2 === 0 ? next.program : THIS_RELEASE;
        onEnd(async ({ keep }) => (keep ? fixture.folder : remove(fixture)));
        const report = await upgradeRound(fixture, program, random);
        if (report.problems.length === 0) remove(fixture);
        return report;
      },
    };
  },
};

function remove({ folder }: OpenFixture): void {
  rmSync(folder, { recursive: true, force: true });
}

/** The events of the folder lie in more hours than that. */
export const HOURS = { hoursMin: 100 };
const KILLS_MAX = 4;
/** A start takes some two seconds; the view is changed in the second one. */
const KILLED_WITHIN_MS = 2_200;
const VICTIMS = ['control', 'control', 'supervisor', 'ingest'] as const;
const RUNS = { timeoutMs: 30_000, everyMs: 10 };
const COMES_UP_MS_MAX = 120_000;

async function upgradeRound(fixture: OpenFixture, program: string, random: Random): Promise<RoundReport> {
  const { dataDir, story } = fixture;
  // A process that was ready before the kill has announced its port: it has to come back there.
  const env = { DATA_DIR: dataDir, LOG_LEVEL: 'error', PORT: String(await quietPort()) };
  const kills = 1 + random.below(KILLS_MAX);
  const lives = createLives(() => startRelease(program, env));
  try {
    for (let left = kills; left > 0; left--) {
      await pass(random.below(KILLED_WITHIN_MS));
      await lives.kill(random.pick(VICTIMS));
    }
    const origin = await lives.comeUp();
    const problems = [...(await judgeFixture(origin, fixture)), ...(await auditOf(dataDir, HOURS))];
    const exitCode = await lives.current().stop();
    if (exitCode !== 0) problems.push(`an ordinary stop ended with ${exitCode}`);
    const eventsJudged = Object.values(story.modes).reduce((sum, { events }) => sum + events.length, 0);
    return { counts: { kills, starts: lives.starts(), eventsJudged }, problems };
  } finally {
    await lives.current().end();
  }
}

/**
 * One release after the other on the same data. A process that died three times before it was ready once is
 * given up, and all ends: then the operator starts again.
 */
function createLives(start: () => Release) {
  let starts = 1;
  let release = start();

  async function startAgain(): Promise<void> {
    await release.ended();
    release = start();
    starts++;
  }

  return {
    current: () => release,
    starts: () => starts,
    /** As soon as such a process runs. */
    async kill(victim: (typeof VICTIMS)[number]): Promise<void> {
      const hit = async () => {
        if (release.hasEnded()) await startAgain();
        return (await release.kill(victim)) || undefined;
      };
      if (!(await poll(hit, RUNS))) {
        throw new Error(`no ${victim} ran within ${RUNS.timeoutMs} ms: ${release.stderr()}`);
      }
      if (victim === 'supervisor') await startAgain();
    },
    /** Its origin. */
    async comeUp(): Promise<string> {
      const until = performance.now() + COMES_UP_MS_MAX;
      for (;;) {
        const origin = await release.ready();
        if (origin !== undefined) return origin;
        if (performance.now() > until) {
          throw new Error(`nothing was ready within ${COMES_UP_MS_MAX} ms: ${release.stderr()}`);
        }
        await startAgain();
      }
    },
  };
}
