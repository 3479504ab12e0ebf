import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FORMS } from '../../../infra/segment-log/write-form-under-test.ts';
import { lacking } from '../../support/machine-requirements.ts';
import { createRandom, type Random } from '../../support/random.ts';
import type { FaultOptions, FaultPromise, RoundReport } from '../promise.ts';
import { judgeLog } from './judge-log.ts';
import { cutPower, type PowerCut, REMAINS } from './power-cut.ts';
import { judgeInstance, type RecordedInstance, recordInstance } from './recorded-instance.ts';
import { hastyMarks, hastyResponses } from './recorded-log.ts';
import { type Recording, recordDataPlane, recordSegments } from './recording.ts';

/** Cuts of one round. Each opens log and keys with their own modules. */
const CUTS = 20;

/** What was acknowledged is durable: rounds of cuts through recordings of the log and its keys. */
export const powerCutsOfLog: FaultPromise = {
  promises: [6],
  title: 'the power is cut under the log and the keys',
  rounds: { short: 2, long: 40 },
  lacks: () => lacking('tracing'),
  async open(options) {
    const folder = newFolder(options);
    const recordings = [await recordDataPlane(join(folder, 'plane'))];
    for (const [at, form] of FORMS.entries()) {
      recordings.push(await recordSegments(join(folder, `segments-${at}`), form));
    }
    return { round: ({ seed }) => cutLogs(recordings, seed) };
  },
};

async function cutLogs(recordings: Recording[], seed: number): Promise<RoundReport> {
  const problems = recordings.flatMap(({ log }) => hastyResponses(log));
  for (const recording of recordings) {
    for (let cut = 0; cut < CUTS; cut++) problems.push(...(await judgeCut(recording, seed + cut)));
  }
  return { counts: { powerCuts: recordings.length * CUTS }, problems };
}

/** Cuts the power at a time that the seed gives, and opens what is left of log and keys. */
export async function judgeCut(recording: Recording, seed: number): Promise<string[]> {
  const random = createRandom(seed);
  const time = random.pick(random.pick(recording.times));
  const remains = random.pick(REMAINS);
  const folder = mkdtempSync(join(tmpdir(), 'metergate-power-'));
  try {
    cutPower(recording.history, { time, remains, random }, folder, ['log', 'keys']);
    const { log: recorded, identityCheck, keySizes } = recording;
    const found = await judgeLog({ folder, time, recorded, identityCheck, keySizes });
    return found.map((fault) => `seed ${seed}, cut at ${time}, ${remains} of the unsynced left: ${fault}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
  async open(options) {
    const { seed, form } = options;
    const recorded = await recordInstance(join(newFolder(options), 'instance'), { seed, items: ITEMS[form] });
    return {
      round: ({ random }) => cutAll(recorded, random),
      judge: async () => ({
        counts: { rangesMarkedLoaded: recorded.loaded.length },
        problems: [...hastyResponses(recorded.log), ...hastyMarks(recorded.history, recorded.loaded)],
      }),
    };
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

function newFolder({ onEnd }: FaultOptions): string {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-power-'));
  onEnd(async ({ keep }) => (keep ? folder : rmSync(folder, { recursive: true, force: true })));
  return folder;
}
