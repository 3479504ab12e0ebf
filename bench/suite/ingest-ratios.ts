import { familyCost, processCost } from '../../tests/support/process-cost.ts';
import { whilePaused } from '../../tests/support/processes.ts';
import { type Baseline, startBaseline } from '../baselines/start-baseline.ts';
import { createDriver } from './drive.ts';
import type { Measured } from './goals.ts';
import { median, rounded } from './paired.ts';
import { type Scenario, toward } from './scenario.ts';
import { inShortTurns, type Round, timesOurs, wholeOf } from './short-turns.ts';

export interface IngestFigures {
  measured: Measured[];
  /** CPU-µs per event by the server that was driven; Postgres is added for those that need it. */
  cpuMicrosPerEvent: Record<string, number>;
  /** Acknowledged per second as fast as it goes, batches: half of it is the rate for G3. */
  capacityPerSecond: number;
}

/** CPU of its server per event of a batch of 500, with deduplication in Redis, measured once. */
const OPENMETER_MICROS = 55;
/** About what bare uWS costs at a quiet hour (1.04 to 1.2): the yardstick for what cannot be run in turns. */
const QUIET_BARE_MICROS = 1.2;
/** Until it costs no less. */
const WARM_UP_MS = 1_000;
const BATCH = { batch: 500, connections: 8, warmUpMs: WARM_UP_MS };
/** By so much more: they move twice as far from round to round. */
const SINGLES_ROUNDS = 1.5;
/** Its pool has eight clients of Postgres. */
const EXPRESS = { batch: 1, connections: 32, warmUpMs: 2_500 };
/** A flush costs what it costs, however many requests share it: fewer connections make ours dearer. */
const SINGLE = { batch: 1, connections: 256, warmUpMs: WARM_UP_MS };

/**
 * G1, G2, G4, G5 and G11, with the data plane alone: the control side is held still, so that the load of what
 * was taken does not share the cores with it.
 */
export async function ingestRatios(scenario: Scenario): Promise<IngestFigures> {
  const servers: Baseline[] = [];
  const start = async (name: string, ...args: string[]): Promise<Baseline> => {
    const server = await startBaseline(name, ...args);
    servers.push(server);
    return server;
  };
  const controlSide = scenario.instance.pid('control side');
  try {
    const bare = await start('bare-parse');
    const unnest = await start('unnest-pg', scenario.postgresUrl);
    const naive = await start('express-pg', scenario.postgresUrl);
    const ours = { url: scenario.instance.origin, pid: scenario.instance.pid('data plane') };
    return await whilePaused(controlSide, async () => {
      const batches = await inTurns(scenario, {
        bare: { ...bare, ...BATCH },
        ours: { ...ours, ...BATCH },
        unnest: { ...unnest, ...BATCH },
        naive: { ...naive, ...EXPRESS },
      });
      const rounds = Math.ceil(scenario.rounds * SINGLES_ROUNDS);
      const singles = await inTurns(
        { ...scenario, rounds },
        { bare: { ...bare, ...SINGLE }, ours: { ...ours, ...SINGLE } },
      );
      return figuresOf(batches, singles);
    });
  } finally {
    for (const server of servers) await server.stop();
  }
}

interface Target {
  url: string;
  pid: number;
  batch: number;
  connections: number;
  warmUpMs: number;
}

interface Ran extends Record<string, number> {
  events: number;
  seconds: number;
  /** Of the server's process. */
  cpuMicros: number;
  /** Of Postgres meanwhile. */
  postgresMicros: number;
}

async function inTurns<Name extends string>(
  scenario: Scenario,
  targets: Record<Name, Target>,
): Promise<Array<Round<Name, Ran>>> {
  const postgres = scenario.instance.pid('postgres');
  const drivers = (Object.entries(targets) as Array<[Name, Target]>).map(([name, target]) => {
    const { url, pid, batch, connections, warmUpMs } = target;
    const driver = createDriver({ ...toward(scenario, { batch, connections, durationMs: warmUpMs }), url });
    const ofServer = () => processCost(pid).cpuMicros;
    const ofPostgres = () => familyCost(postgres).cpuMicros;
    let servedUntil = 0;
    const run = async (durationMs: number): Promise<Ran> => {
      const before = ofPostgres();
      const driven = await driver.run(durationMs);
      const [now, after] = [ofServer(), ofPostgres()];
      // Since its turn before: what is left to do behind a turn, such as collecting garbage, is its own.
      const cpuMicros = now - servedUntil;
      servedUntil = now;
      return { ...driven, cpuMicros, postgresMicros: after - before };
    };
    const warmUp = async () => {
      await driver.run(warmUpMs);
      servedUntil = ofServer();
    };
    return { name, driver, warmUp, run };
  });
  try {
    for (const { warmUp } of drivers) await warmUp();
    const runners = Object.fromEntries(drivers.map(({ name, run }) => [name, run]));
    return await inShortTurns(scenario, runners as Record<Name, (durationMs: number) => Promise<Ran>>);
  } finally {
    for (const { driver } of drivers) driver.close();
  }
}

/** CPU-µs per event. */
function alone({ cpuMicros, events }: Ran): number {
  return cpuMicros / events;
}

function withPostgres({ cpuMicros, postgresMicros, events }: Ran): number {
  return (cpuMicros + postgresMicros) / events;
}

/** Of an event in a batch: the sum of what its steps cost at least, each measured alone. */
const LIMIT_MICROS = { least: 0.37, most: 0.45 };

/** The steps are receive, scan, id, table, copy, flush and response. */
export function limitOverOurs(ourMicros: number): string {
  const [least, most] = [LIMIT_MICROS.least, LIMIT_MICROS.most].map((limit) => rounded(limit / ourMicros));
  return `limit (${LIMIT_MICROS.least} to ${LIMIT_MICROS.most} µs) / ours ${least} to ${most}`;
}

type Batches = Array<Round<'bare' | 'ours' | 'unnest' | 'naive', Ran>>;
type Singles = Array<Round<'bare' | 'ours', Ran>>;

function figuresOf(batches: Batches, singles: Singles): IngestFigures {
  const over = (name: 'unnest' | 'naive') => {
    const note = `without the CPU of Postgres ${timesOurs(batches, name, alone).value}`;
    return { ...timesOurs(batches, name, withPostgres, alone), note };
  };
  const overBare = timesOurs(batches, 'bare', alone);
  const each = (name: keyof Batches[number]) => batches.map((round) => wholeOf(round[name]));
  const single = (name: 'bare' | 'ours') => singles.map((round) => wholeOf(round[name]));
  const middle = (runs: Ran[], cost = alone) => rounded(median(runs.map(cost)));
  const bareAt = (runs: Ran[]) => `bare uWS at this hour ${middle(runs)} µs`;
  const ours = middle(each('ours'));
  return {
    measured: [
      { id: 'G1', ...overBare, note: `${bareAt(each('bare'))}; ${limitOverOurs(ours)}` },
      {
        id: 'G2',
        ...timesOurs(singles, 'bare', alone),
        note: `${SINGLE.connections} connections, one request in flight on each; ${bareAt(single('bare'))}`,
      },
      { id: 'G4', ...over('naive') },
      { id: 'G5', ...over('unnest') },
      {
        id: 'G11',
        value: rounded((OPENMETER_MICROS / QUIET_BARE_MICROS) * overBare.value),
        by: 'projected',
        control: overBare.control,
        noise: overBare.noise,
        note: `G1 × 55 / 1.2; 55 µs / ours at this hour ${rounded(OPENMETER_MICROS / ours)}`,
      },
    ],
    cpuMicrosPerEvent: {
      'bare uWS, batches': middle(each('bare')),
      'ingest, batches': ours,
      'uWS and UNNEST, with Postgres': middle(each('unnest'), withPostgres),
      'Express and INSERT, with Postgres': middle(each('naive'), withPostgres),
      'bare uWS, singles': middle(single('bare')),
      'ingest, singles': middle(single('ours')),
    },
    capacityPerSecond: Math.round(median(each('ours').map(({ events, seconds }) => events / seconds))),
  };
}
