import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { poll } from '../../../infra/platform/poll.ts';
import { listSegments } from '../../../infra/segment-log/segment-file.ts';
import { compareCounters } from '../../support/compare.ts';
import { during } from '../../support/during.ts';
import { planRequests } from '../../support/generator.ts';
import { seenInTime } from '../../support/in-time.ts';
import { sendAll } from '../../support/send.ts';
import { compareRows } from '../../support/stored-events.ts';
import { type JudgedInstance, judgeAndStop, problemsOf, startJudged } from '../judged-instance.ts';
import { restartDataPlane, whileStopped } from '../process-control.ts';
import { type FaultOptions, type FaultPromise, type Round, type RoundReport, roundOf } from '../promise.ts';

/**
 * A log that gives up at once what is settled, and a data plane that ends, is killed, or loses its keys under
 * load. Replays of every earlier round come in each: what the log no longer has must be known all the same.
 */
export const logGivenUp: FaultPromise = {
  promises: [1, 2],
  title: 'the log gives up what is settled, and the data plane loses its keys',
  rounds: { short: 3, long: 60 },
  async open(options) {
    const { onEnd } = options;
    const opened = await startJudged(ENVIRONMENT, { connections: CONNECTIONS, onEnd });
    const scenario: Scenario = { ...opened, options, nowMs: Date.now(), rounds: [] };
    return { round: (round) => retentionRound(scenario, round), judge: () => judgeScenario(scenario) };
  },
};

interface Scenario extends Pick<JudgedInstance, 'instance' | 'judged'> {
  options: FaultOptions;
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

/** The fault of the data plane in the middle of a round's load; starts over at the end. */
const FATES: Array<{ name: string; act: (scenario: Scenario) => Promise<void> }> = [
  { name: 'ends', act: ({ instance }) => restartDataPlane(instance) },
  { name: 'kills', act: ({ instance }) => instance.kill('data plane') },
  { name: 'lossesOfKeys', act: loseKeys },
];

async function retentionRound(scenario: Scenario, { number, random }: Round): Promise<RoundReport> {
  const { instance, judged, rounds, options } = scenario;
  const fate = FATES[number % FATES.length] ?? { name: 'none', act: async () => undefined };
  const [pid, keptFrom] = [instance.pid('data plane'), keptFromOf(scenario)];
  const half = itemsOf(options) * (0.3 + random.below(40) / 100);
  let acknowledged = 0;
  const sent = send(scenario, number, (items) => {
    acknowledged = items;
  });
  sent.catch(() => undefined); // reported by `stop`
  await during({ stop: () => sent }, async () => {
    await seenInTime(() => acknowledged > half || undefined, HALF_SENT, 'the middle of the load');
    await fate.act(scenario);
  });
  const earlier = rounds.length > 0 ? random.pick(rounds) : number;
  rounds.push(number);
  await send(scenario, earlier);
  const problems = await problemsOf(judged, compareCounters);
  if (instance.pid('data plane') === pid) problems.push(`${fate.name}: the data plane is still ${pid}`);
  // After an orderly end all keys are in their file, and a start gives up everything but the last segments.
  if (fate.name === 'ends') problems.push(...(await untrimmed(scenario, keptFrom)));
  const counts = { [fate.name]: 1, bytesGivenUp: keptFromOf(scenario) - keptFrom };
  return { counts, peaks: { segments: segmentsOf(scenario).length }, problems };
}

const HALF_SENT = { timeoutMs: PATIENCE_MS, everyMs: 1 };

function itemsOf({ form }: FaultOptions): number {
  return form === 'short' ? 10_000 : 20_000;
}

/** The same number gives the same requests. */
async function send(scenario: Scenario, number: number, onProgress?: (items: number) => void): Promise<void> {
  const { judged, options, nowMs } = scenario;
  const { api, ledger, world } = judged;
  const { seed, run } = roundOf(options.seed, number);
  const requests = planRequests({ seed, run, items: itemsOf(options), nowMs, world });
  const progress = onProgress === undefined ? {} : { onProgress };
  await sendAll(requests, { api, ledger, connections: CONNECTIONS, patienceMs: PATIENCE_MS, ...progress });
}

/** Kills the data plane and removes its keys before it is started again. */
async function loseKeys({ instance }: Scenario): Promise<void> {
  await whileStopped(instance.pid('supervisor'), async () => {
    await instance.kill('data plane');
    rmSync(join(instance.dataDir, 'keys'), { recursive: true });
  });
}

const TRIMMED = { timeoutMs: 20_000, everyMs: 100 };

/**
 * Ends the data plane in order, and states what the start after it should have given up and has not:
 * everything but the last segments, and what was at `position` in any case.
 */
async function untrimmed(scenario: Scenario, position: number): Promise<string[]> {
  await restartDataPlane(scenario.instance);
  const isTrimmed = () => segmentsOf(scenario).length <= 2 && keptFromOf(scenario) > position;
  if (await poll(() => isTrimmed() || undefined, TRIMMED)) return [];
  const left = `${segmentsOf(scenario).length} segments of what is settled`;
  return [`the log still has ${left}, from ${keptFromOf(scenario)} on; it began at ${position}`];
}

/** The position at which the log begins. */
function keptFromOf(scenario: Scenario): number {
  return segmentsOf(scenario)[0] ?? 0;
}

function segmentsOf({ instance }: Scenario): number[] {
  return listSegments(dataDirAt(instance.dataDir).log);
}

/** In the end everything is sent once more to a data plane without keys, and every place is compared. */
async function judgeScenario(scenario: Scenario): Promise<RoundReport> {
  // What the log no longer has only the warehouse knows.
  const left = await untrimmed(scenario, 0);
  await loseKeys(scenario);
  for (const number of scenario.rounds) await send(scenario, number);
  const { counts, problems } = await judgeAndStop(scenario, [compareCounters], [compareRows]);
  return { counts: { ...counts, lossesOfKeys: 1 }, problems: [...left, ...problems] };
}
