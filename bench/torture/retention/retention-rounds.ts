import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../../../infra/poll.ts';
import { createApi } from '../../api.ts';
import { compareCounters, type Judged } from '../../compare.ts';
import { planRequests } from '../../generator.ts';
import { type Instance, startInstance } from '../../instance.ts';
import { createLedger } from '../../ledger.ts';
import { makeWorld } from '../../make-world.ts';
import { createRandom } from '../../random.ts';
import { sendAll } from '../../send.ts';
import { type RoundReport, roundSeed, type TortureOptions, type TorturePromise } from '../promise.ts';
import { auditFaults, compareRows } from '../stored-events.ts';

/**
 * A log that gives up at once what is settled, and a data plane that ends, is killed, or loses its keys under
 * load. Replays of every earlier round come in each: what the log no longer has must be known all the same.
 */
export const logGivenUp: TorturePromise = {
  promises: [1, 2],
  title: 'the log gives up what is settled, and the data plane loses its keys',
  rounds: { short: 3, long: 60 },
  async open(options) {
    const scene = await openScene(options);
    return {
      round: (number) => retentionRound(scene, number),
      judge: () => judgeScene(scene),
      close: async ({ keep }) => {
        await scene.judged.api.close();
        if (keep) return await scene.instance.leave();
        await scene.instance.remove();
        return undefined;
      },
    };
  },
};

interface Scene {
  instance: Instance;
  judged: Judged;
  options: TortureOptions;
  /** Everything that is sent again has to be a replay: the plans are the same to the millisecond. */
  nowMs: number;
  rounds: number[];
}

const CONNECTIONS = 4;
const PATIENCE_MS = 60_000;
const ENVIRONMENT = {
  LOG_LEVEL: 'warn',
  LOG_RETENTION_DAYS: '0',
  LOG_SEGMENT_BYTES: String(256 * 1024),
};

async function openScene(options: TortureOptions): Promise<Scene> {
  const instance = await startInstance(ENVIRONMENT);
  try {
    const key = instance.keys().live.secret;
    const api = createApi({ origin: instance.origin, key, connections: CONNECTIONS });
    const world = await makeWorld(api);
    const judged = { api, world, ledger: createLedger(world) };
    return { instance, judged, options, nowMs: Date.now(), rounds: [] };
  } catch (error) {
    await instance.remove();
    throw error;
  }
}

/** What becomes of the data plane in the middle of a round's load; begun anew when it is through. */
const FATES: Array<{ name: string; act: (scene: Scene) => Promise<void> }> = [
  { name: 'ends', act: async ({ instance }) => void process.kill(instance.pid('data plane'), 'SIGTERM') },
  { name: 'kills', act: ({ instance }) => instance.kill('data plane') },
  { name: 'lossesOfKeys', act: loseKeys },
];

async function retentionRound(scene: Scene, number: number): Promise<RoundReport> {
  const { judged, rounds, options } = scene;
  const fate = FATES[number % FATES.length] ?? { name: 'none', act: async () => undefined };
  const random = createRandom(roundSeed(options.seed, number));
  let acting: Promise<void> | undefined;
  const half = itemsOf(options) * (0.3 + random.below(40) / 100);
  await send(scene, number, (items) => {
    if (items > half) acting ??= fate.act(scene);
  });
  await acting;
  const earlier = rounds.length > 0 ? random.pick(rounds) : number;
  rounds.push(number);
  await send(scene, earlier);
  const problems = [...judged.ledger.problems(), ...(await compareCounters(judged))];
  // After an orderly end all keys are in their file, and a start gives up everything but the last segments.
  if (fate.name === 'ends') problems.push(...(await untrimmed(scene)));
  return { counts: { [fate.name]: 1 }, peaks: { segments: segmentsOf(scene).length }, problems };
}

function itemsOf({ form }: TortureOptions): number {
  return form === 'short' ? 10_000 : 20_000;
}

/** The same number gives the same requests. */
async function send(scene: Scene, number: number, onProgress?: (items: number) => void): Promise<void> {
  const { judged, options, nowMs } = scene;
  const { api, ledger, world } = judged;
  const [seed, run] = [roundSeed(options.seed, number), `retention-${options.seed}-${number}`];
  const requests = planRequests({ seed, run, items: itemsOf(options), nowMs, world });
  const told = onProgress === undefined ? {} : { onProgress };
  await sendAll(requests, { api, ledger, connections: CONNECTIONS, patienceMs: PATIENCE_MS, ...told });
}

/** Kills the data plane and removes its keys before it is started again. */
async function loseKeys({ instance }: Scene): Promise<void> {
  const supervisor = instance.pid('supervisor');
  process.kill(supervisor, 'SIGSTOP');
  try {
    await instance.kill('data plane');
    rmSync(join(instance.dataDir, 'keys'), { recursive: true });
  } finally {
    process.kill(supervisor, 'SIGCONT');
  }
}

const TRIMMED = { timeoutMs: 20_000, everyMs: 100 };

async function untrimmed(scene: Scene): Promise<string[]> {
  process.kill(scene.instance.pid('data plane'), 'SIGTERM');
  const trimmed = await poll(() => (segmentsOf(scene).length <= 2 ? true : undefined), TRIMMED);
  return trimmed ? [] : [`the log still has ${segmentsOf(scene).length} segments of what is settled`];
}

function segmentsOf({ instance }: Scene): string[] {
  return readdirSync(join(instance.dataDir, 'log')).filter((name) => name.endsWith('.seg'));
}

/** In the end everything is sent once more to a data plane without keys, and every place is compared. */
async function judgeScene(scene: Scene): Promise<RoundReport> {
  const { instance, judged, rounds } = scene;
  const { ledger } = judged;
  await loseKeys(scene);
  for (const number of rounds) await send(scene, number);
  const problems = [
    ...ledger.problems(),
    ...(await compareCounters(judged)),
    ...(await auditFaults(instance.dataDir)),
  ];
  const exitCode = await instance.stop();
  if (exitCode !== 0) problems.push(`an ordinary stop ended with ${exitCode}`);
  problems.push(...(await compareRows(instance.dataDir, ledger)));
  return { counts: { lossesOfKeys: 1, eventsAcknowledged: ledger.size() }, problems };
}
