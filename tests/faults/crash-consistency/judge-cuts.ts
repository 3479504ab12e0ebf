import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../../support/random.ts';
import { judgeLog } from './judge-log.ts';
import { cutPower, REMAINS } from './power-cut.ts';
import type { Recording } from './recording.ts';

/** Cuts the power at a time that the seed gives, and opens what is left of log and keys. */
export async function judgeCut(recording: Recording, seed: number): Promise<string[]> {
  const random = createRandom(seed);
  const time = random.pick(random.pick(recording.times));
  const remains = random.pick(REMAINS);
  const folder = mkdtempSync(join(tmpdir(), 'metergate-power-'));
  try {
    cutPower(recording.history, { time, remains, random }, folder, ['log', 'keys']);
    const { log: recorded, identityCheck } = recording;
    const found = await judgeLog({ folder, time, recorded, identityCheck });
    return found.map((fault) => `seed ${seed}, cut at ${time}, ${remains} of the unsynced left: ${fault}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
