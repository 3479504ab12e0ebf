import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { microsSince, rssPeaksMib } from '../measure-instance.ts';
import { bytesOnDisk } from './folder-sizes.ts';
import type { Measured } from './goals.ts';
import { rounded } from './paired.ts';
import { costsByProcess, type Scenario, waitForAll } from './scenario.ts';
import { take } from './take.ts';
import { watchThreads } from './thread-costs.ts';
import { storedInAll } from './usage-ratios.ts';
import { allOf, bytesByTable, whenMergesRest } from './warehouse-parts.ts';

/** From the request to the count. */
export interface WholeFigures {
  events: number;
  /** With the time until nothing waited. */
  countedPerSecond: number;
  /** Of each process; the control side until its merges rest. */
  cpuMicrosPerEvent: Record<string, number>;
  /** Of the control side, by name of its threads. */
  controlSideMicrosByThread: Record<string, number>;
  rssPeakMib: Record<string, number>;
  diskBytesPerEvent: Record<string, number>;
}

/** Below it a name is one of many that take next to nothing. */
const THREAD_MICROS_MIN = 0.01;

/** G12, and what an event costs by process until it is counted and merges rest. */
export async function requestToCount(
  scenario: Scenario,
  atLeast: number,
): Promise<WholeFigures & { measured: Measured }> {
  const { warehouse } = dataDirAt(scenario.instance.dataDir);
  await waitForAll(scenario);
  const now = () => costsByProcess(scenario);
  await whenMergesRest(warehouse, now);
  const before = now();
  const threads = watchThreads(scenario.instance.pid('control side'));
  try {
    const startedAt = performance.now();
    const events = await take(scenario, atLeast);
    const seconds = (performance.now() - startedAt) / 1_000;
    const counted = now();
    const rested = await whenMergesRest(warehouse, () => ({ costs: now(), threads: threads.byName() }));
    const micros = (after: typeof before) => microsSince(before, after, (spent) => rounded(spent / events));
    const { 'control side': untilCounted, ...others } = micros(counted);
    const untilRest = micros(rested.costs)['control side'];
    const figures: WholeFigures = {
      events,
      countedPerSecond: Math.round(events / seconds),
      cpuMicrosPerEvent: {
        'data plane': others['data plane'],
        'control side, at rest': untilRest,
        postgres: others.postgres,
        generator: others.generator,
      },
      controlSideMicrosByThread: perEvent(rested.threads, events),
      rssPeakMib: rssPeaksMib(rested.costs),
      diskBytesPerEvent: await diskBytes(scenario),
    };
    const note = `${untilCounted} until all was counted, on ${events} events; Postgres ${others.postgres}`;
    return { ...figures, measured: { id: 'G12', value: untilRest, note } };
  } finally {
    threads.stop();
  }
}

/** Names that take next to nothing are added up. */
export function perEvent(micros: Record<string, number>, events: number): Record<string, number> {
  const each = Object.entries(micros).map(([name, spent]) => [name, spent / events] as const);
  const shown = each.filter(([, spent]) => spent >= THREAD_MICROS_MIN);
  const others = each.reduce((sum, [, spent]) => sum + (spent < THREAD_MICROS_MIN ? spent : 0), 0);
  return Object.fromEntries(
    [...shown, ['others', others] as const].map(([name, one]) => [name, rounded(one)]),
  );
}

/** Of all that was stored: files may be made longer in advance, so a few events show nothing. */
async function diskBytes(scenario: Scenario): Promise<Record<string, number>> {
  const events = await storedInAll(scenario);
  const { log, keys, warehouse } = dataDirAt(scenario.instance.dataDir);
  return {
    log: rounded((await bytesOnDisk(log)) / events),
    keys: rounded((await bytesOnDisk(keys)) / events),
    warehouse: allOf(await bytesByTable(warehouse, events)),
  };
}
