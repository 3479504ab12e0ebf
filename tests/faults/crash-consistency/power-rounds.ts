import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lacking } from '../../support/machine-requirements.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { type FaultPromise, type RoundReport, roundSeed } from '../promise.ts';
import { judgeCut } from './judge-cuts.ts';
import { judgeInstance } from './judge-instance.ts';
import { type PowerCut, REMAINS } from './power-cut.ts';
import { type RecordedInstance, recordInstance } from './record-instance.ts';
import { recordDataPlane, recordSegments } from './record-lives.ts';
import { hastyMarks } from './recorded-load.ts';
import { hastyResponses } from './recorded-log.ts';
import type { Recording } from './recording.ts';

/** Cuts of one round. Each opens log and keys with their own modules. */
const CUTS = 20;

/** What was acknowledged is durable: rounds of cuts through recordings of the log and its keys. */
export const powerCutsOfLog: FaultPromise = {
  promises: [6],
  title: 'the power is cut under the log and the keys',
  rounds: { short: 2, long: 40 },
  lacks: () => lacking('tracing'),
  async open({ seed }) {
    const folder = newFolder();
    try {
      const recordings = [
        await recordDataPlane(join(folder, 'plane')),
        await recordSegments(join(folder, 'segments')),
      ];
      return {
        round: (number) => cutLogs(recordings, roundSeed(seed, number)),
        close: async (options) => leave(folder, options),
      };
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  },
};

async function cutLogs(recordings: Recording[], seed: number): Promise<RoundReport> {
  const problems = recordings.flatMap(({ log }) => hastyResponses(log));
  for (const recording of recordings) {
    for (let cut = 0; cut < CUTS; cut++) problems.push(...(await judgeCut(recording, seed + cut)));
  }
  return { counts: { powerCuts: recordings.length * CUTS }, problems };
}

const ITEMS = { short: 6_000, long: 20_000 };

/**
 * Rounds of one power cut each, through the recording of a whole Metergate with its Postgres and its
 * ClickHouse. Everything is started on what is left of the folder.
 */
export const powerCutsOfAll: FaultPromise = {
  promises: [6],
  title: 'the power is cut under the whole of it',
  rounds: { short: 2, long: 60 },
  lacks: () => lacking('tracing'),
  async open({ seed, form }) {
    const folder = newFolder();
    try {
      const recorded = await recordInstance(join(folder, 'instance'), { seed, items: ITEMS[form] });
      return {
        round: (number) => cutAll(recorded, createRandom(roundSeed(seed, number))),
        judge: async () => ({
          counts: { rangesMarkedLoaded: recorded.loaded.length },
          problems: [...hastyResponses(recorded.log), ...hastyMarks(recorded.history, recorded.loaded)],
        }),
        close: async (options) => leave(folder, options),
      };
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  },
};

async function cutAll(recorded: RecordedInstance, random: Random): Promise<RoundReport> {
  const cut: PowerCut = { time: timeOf(recorded, random), remains: random.pick(REMAINS), random };
  const found = await judgeInstance(recorded, cut);
  const problems = found.map((fault) => `cut at ${cut.time}, ${cut.remains} of the unsynced left: ${fault}`);
  return { counts: { wholeStartsAfterPowerCuts: 1 }, problems };
}

/** From the first response on; a file that is written once counts as much as one that always is. */
function timeOf({ log, times }: RecordedInstance, random: Random): number {
  const from = Math.min(...log.responses.map(({ time }) => time));
  const begun = times.map((ofFile) => ofFile.filter((time) => time >= from));
  return random.pick(random.pick(begun.filter((ofFile) => ofFile.length > 0)));
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'metergate-power-'));
}

function leave(folder: string, { keep }: { keep: boolean }): string | undefined {
  if (keep) return folder;
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}
