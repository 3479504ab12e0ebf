/**
 * A program that tracks usage into a spool until it is killed. Each event's value is its number, and only
 * when `track` has taken it is that number written to the ledger. With TRACK_COUNT it tracks no more than so
 * many and then waits until nothing waits in the spool, those of dead processes neither; it prints its
 * statistics and ends.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createMeter } from '../../sdk/node/src/meter/meter.ts';
import { openSpool } from '../../sdk/node/src/spool/spool.ts';

const { TRACK_URL = '', TRACK_KEY = '', TRACK_SPOOL = '', TRACK_LEDGER = '', TRACK_RUN = '' } = process.env;
const COUNT = Number(process.env.TRACK_COUNT ?? Number.POSITIVE_INFINITY);
/** How many it tracks before it pauses for 2 ms. */
const PER_TURN = Number(process.env.TRACK_PER_TURN ?? 10);
const DRAIN_MS = 60_000;

const meter = createMeter({
  url: TRACK_URL,
  apiKey: TRACK_KEY,
  spool: openSpool({ folder: TRACK_SPOOL }),
  lingerMs: 20,
  timeoutMs: Number(process.env.TRACK_TIMEOUT_MS ?? 1_000),
  retry: { firstMs: 10, lastMs: 200 },
  onError: () => undefined,
  onRejected: (event, { code }) => process.stderr.write(`rejected: ${code} ${JSON.stringify(event)}\n`),
});
const ledger = openSync(TRACK_LEDGER, 'w');
for (let number = 1; number <= COUNT; number++) {
  const isTaken = meter.track({
    customerId: 'tracked',
    meterId: 'tracked',
    value: number,
    properties: { run: TRACK_RUN },
  });
  if (!isTaken) throw new Error(`event ${number} was not taken`);
  // Killed between the two lines, one event is in the spool and not in the ledger.
  writeSync(ledger, `${number}\n`);
  if (number % PER_TURN === 0) await pause(2);
}
closeSync(ledger);
const flushed = await meter.flush({ timeoutMs: DRAIN_MS });
const stats = meter.stats();
await meter.close({ timeoutMs: 0 });
const rssPeakMib = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(`${JSON.stringify({ ...stats, ...flushed, rssPeakMib })}\n`);
