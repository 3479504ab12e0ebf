/**
 * G9: what a new key costs the key table when it is large, compared with 1 M keys, in turns. Arguments: sizes
 * in millions, ascending, and rounds. Prints one line of JSON: CPU-µs per key by size.
 */

import { randomFillSync } from 'node:crypto';
import { GENERATION_KEYS } from '../../infra/key-table/open-key-table.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import { type LogAndKeys, openLogAndKeys } from '../../tests/support/log-and-keys.ts';
import { claimWithRoom } from './claim-with-room.ts';
import { inTurns, median, paired, rounded, type Turn } from './paired.ts';

const BATCH = 500;
/** Keys of one measured window: about a generation, so that each window has the sealing of one. */
const WINDOW = 262_500;
const SMALL = 1_000_000;
const GOAL_KEYS = 50_000_000;
const check = Buffer.alloc(16, 1);

const [sizes = '4', roundsText = '7'] = process.argv.slice(2);
const rounds = Number(roundsText);
const batch = {
  count: BATCH,
  records: new Uint32Array((BATCH * RECORD_BYTES) / 4),
  readOnly: new Uint8Array(BATCH),
  outcomes: new Uint8Array(BATCH),
};
let logEnd = 0;

const small = await openLogAndKeys(check, { generationKeys: GENERATION_KEYS });
const large = await openLogAndKeys(check, { generationKeys: GENERATION_KEYS });
await addKeys(small, SMALL);
const rssMibOfSmall = rssMib();
const curve: Array<{ keys: number; microsPerKey: number; rssMib: number }> = [];
let measured: object = {};
for (const size of sizes.split(',').map((millions) => Number(millions) * 1_000_000)) {
  await addKeys(large, size - large.keys.keyCount);
  await window(large);
  const turns = await inTurns(
    rounds,
    () => window(small),
    () => window(large),
  );
  if (curve.length === 0) {
    const microsPerKey = rounded(median(turns.map(({ before }) => before)));
    curve.push({ keys: SMALL, microsPerKey, rssMib: rssMibOfSmall });
  }
  curve.push({
    keys: size,
    microsPerKey: rounded(median(turns.map(({ ours }) => ours))),
    rssMib: rssMib(),
  });
  const isSmaller = size < GOAL_KEYS;
  measured = {
    id: 'G9',
    ...paired(turns),
    isSmaller,
    note: `${size / 1e6} M keys / 1 M, the mean ${rounded(meanRatio(turns))}; the goal speaks of 50 M`,
  };
}
await small.close();
await large.close();
process.stdout.write(`${JSON.stringify({ measured, curve })}\n`);

function rssMib(): number {
  return Math.round(process.memoryUsage.rss() / 2 ** 20);
}

/** With the rounds in which a table doubled: a middling one leaves those out. */
function meanRatio(turns: ReadonlyArray<Turn<number>>): number {
  const sum = (of: (turn: Turn<number>) => number) => turns.reduce((all, turn) => all + of(turn), 0);
  return sum(({ ours }) => ours) / sum(({ before }) => before);
}

/** CPU-µs per key: claimed, confirmed, and its share of sealing and merging. */
async function window(stores: LogAndKeys): Promise<number> {
  const before = process.cpuUsage();
  await addKeys(stores, WINDOW);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / WINDOW;
}

async function addKeys({ keys }: LogAndKeys, count: number): Promise<void> {
  for (let added = 0; added < count; added += BATCH) {
    randomFillSync(batch.records);
    const claim = await claimWithRoom(keys, batch);
    await keys.confirm([claim], ++logEnd);
  }
}
