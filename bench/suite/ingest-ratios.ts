import { type Baseline, startBaseline } from '../baselines/start-baseline.ts';
import { familyCost, processCost } from '../process-cost.ts';
import { type Driven, drive } from './drive.ts';
import type { Measured } from './goals.ts';
import { eachRound, median, paired, rounded, steadiness } from './paired.ts';
import { type Scene, toward } from './scene.ts';

export interface IngestFigures {
  measured: Measured[];
  /** CPU-µs per event by who was driven; Postgres stands beside those that need it. */
  cpuMicrosPerEvent: Record<string, number>;
  /** Answered a second as fast as it goes, batches: what half of it is for G3. */
  capacityPerSecond: number;
}

interface Run {
  perSecond: number;
  /** Of the server's process. */
  cpuMicros: number;
  /** Of Postgres meanwhile. */
  postgresMicros: number;
}

/** CPU of its server per event of a batch of 500, with deduplication in Redis, measured once. */
const OPENMETER_MICROS = 55;
const BATCH = { batch: 500, connections: 8 };
/** A flush costs what it costs, however many requests share it: fewer connections make ours dearer. */
const SINGLE = { batch: 1, connections: 256 };

/** Until it costs no less: Express takes longest. */
const WARM_UP_MS: Record<string, number> & { other: number } = { naive: 2_500, other: 1_000 };

/**
 * G1, G2, G4, G5 and G11, with the data plane alone: the control side is held still, so that the load of what
 * was taken does not share the cores with it. Round by round everybody runs once, between two runs of bare
 * uWS.
 */
export async function ingestRatios(scene: Scene): Promise<IngestFigures> {
  const servers: Baseline[] = [];
  const start = async (name: string, ...args: string[]): Promise<Baseline> => {
    const server = await startBaseline(name, ...args);
    servers.push(server);
    return server;
  };
  const controlSide = scene.instance.pid('control side');
  try {
    const bare = await start('bare-parse');
    const unnest = await start('unnest-pg', scene.postgresUrl);
    const naive = await start('express-pg', scene.postgresUrl);
    const ours = { url: scene.instance.origin, pid: scene.instance.pid('data plane') };
    process.kill(controlSide, 'SIGSTOP');
    const order = { bare, ours, unnest, naive };
    const batches = await inTurns(scene, order, (name) => (name === 'naive' ? SINGLE : BATCH));
    const singles = await inTurns(scene, { bare, ours }, () => SINGLE);
    return figuresOf(batches, singles);
  } finally {
    process.kill(controlSide, 'SIGCONT');
    for (const server of servers) await server.stop();
  }
}

type Turn<Name extends string> = Record<Name | 'bareAgain', Run>;

async function inTurns<Name extends string>(
  scene: Scene,
  targets: Record<Name | 'bare', { url: string; pid: number }>,
  shapeOf: (name: Name | 'bare') => typeof BATCH,
): Promise<Array<Turn<Name | 'bare'>>> {
  const run = (name: Name | 'bare', runMs = scene.runMs) =>
    measureRun({ ...scene, runMs }, targets[name], shapeOf(name));
  const others = (Object.keys(targets) as Array<Name | 'bare'>).filter((name) => name !== 'bare');
  for (const name of ['bare', ...others] as const) await run(name, WARM_UP_MS[name] ?? WARM_UP_MS.other);
  const turns: Array<Turn<Name | 'bare'>> = [];
  let control = await run('bare');
  for (let round = 0; round < scene.rounds; round++) {
    const turn: Record<string, Run> = { bare: control };
    // To and fro: nobody always comes behind the same one.
    for (const name of round % 2 === 0 ? others : others.toReversed()) turn[name] = await run(name);
    control = await run('bare');
    turn.bareAgain = control;
    turns.push(turn as Turn<Name | 'bare'>);
  }
  return turns;
}

async function measureRun(
  scene: Scene,
  { url, pid }: { url: string; pid: number },
  shape: typeof BATCH,
): Promise<Run> {
  const postgres = scene.instance.pid('postgres');
  const costs = () => [processCost(pid).cpuMicros, familyCost(postgres).cpuMicros];
  const driven: Driven = { ...toward(scene, { ...shape, durationMs: scene.runMs }), url };
  const before = costs();
  const { events, seconds } = await drive(driven);
  const [cpu = 0, postgresCpu = 0] = costs().map((micros, at) => micros - (before[at] ?? 0));
  return { perSecond: events / seconds, cpuMicros: cpu / events, postgresMicros: postgresCpu / events };
}

type BatchTurn = Turn<'bare' | 'ours' | 'unnest' | 'naive'>;

function figuresOf(batches: BatchTurn[], singles: Array<Turn<'bare' | 'ours'>>): IngestFigures {
  const beside = (turns: Array<Turn<'bare' | 'ours'>>) => {
    const rounds = turns.map(({ bare, ours, bareAgain }) => ({ before: bare, ours, after: bareAgain }));
    return paired(eachRound(rounds, ({ cpuMicros }) => 1 / cpuMicros));
  };
  const over = (name: 'unnest' | 'naive') => {
    const pairs = batches.map((turn) => whole(turn[name]) / turn.ours.cpuMicros);
    const without = median(batches.map((turn) => turn[name].cpuMicros / turn.ours.cpuMicros));
    const note = `without the CPU of Postgres ${rounded(without)}`;
    const own = steadiness(batches.map((turn) => whole(turn[name])));
    return { value: rounded(median(pairs)), ...own, pairs: pairs.map(rounded), note };
  };
  const micros = (runs: Run[], cost = whole) => rounded(median(runs.map(cost)));
  const ours = median(batches.map((turn) => turn.ours.cpuMicros));
  return {
    measured: [
      { id: 'G1', ...beside(batches) },
      {
        id: 'G2',
        ...beside(singles),
        note: `${SINGLE.connections} connections, one request under way on each`,
      },
      { id: 'G4', ...over('naive') },
      { id: 'G5', ...over('unnest') },
      {
        id: 'G11',
        value: rounded(OPENMETER_MICROS / ours),
        note: 'beside a figure of an earlier session on such a machine, not in turns',
      },
    ],
    cpuMicrosPerEvent: {
      'bare uWS, batches': micros(
        batches.map(({ bare }) => bare),
        alone,
      ),
      'ingest, batches': rounded(ours),
      'uWS and UNNEST, with Postgres': micros(batches.map(({ unnest }) => unnest)),
      'Express and INSERT, with Postgres': micros(batches.map(({ naive }) => naive)),
      'bare uWS, singles': micros(
        singles.map(({ bare }) => bare),
        alone,
      ),
      'ingest, singles': rounded(median(singles.map((turn) => turn.ours.cpuMicros))),
    },
    capacityPerSecond: Math.round(median(batches.map((turn) => turn.ours.perSecond))),
  };
}

function whole({ cpuMicros, postgresMicros }: Run): number {
  return cpuMicros + postgresMicros;
}

function alone({ cpuMicros }: Run): number {
  return cpuMicros;
}
