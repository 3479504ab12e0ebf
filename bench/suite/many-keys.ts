import { readFileSync } from 'node:fs';
import { setTimeout as pass } from 'node:timers/promises';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { type Api, type ApiResponse, callDone } from '../../tests/support/api.ts';
import type { Instance } from '../../tests/support/instance.ts';
import type { OpenedInstance } from '../../tests/support/open-instance.ts';
import { whilePaused } from '../../tests/support/processes.ts';
import { runBaseline } from '../baselines/start-baseline.ts';
import { unlessAborted } from '../interruption.ts';
import { measureInstance } from '../measure-instance.ts';
import { lengthOfFiles } from './folder-sizes.ts';
import type { Measured } from './goals.ts';
import { median, rounded } from './paired.ts';

export interface ManyKeysFigures {
  keys: number;
  /** Of the data plane at rest: with as good as no keys, and with all of them. */
  memoryBytes: { few: number; all: number };
  keyFileBytes: number;
  /** From each kill of the data plane to the next 2xx. */
  restartSeconds: number[];
  /** What a key cost to add, one process that does nothing else. */
  cpuMicrosPerKey: number;
}

const GOAL_KEYS = 100_000_000;
const FILL_PATIENCE_MS = 3_600_000;
const RESTARTS = 3;
/** One that was ready for less is started again after a wait, longer each time. */
const WELL_AFTER_MS = 1_500;
const ASK_EVERY_MS = 5;
const GIVEN_UP_MS = 300_000;
/** Memory that a start has given back is the system's again within seconds. */
const REST = { lookEveryMs: 500, looks: 6, timeoutMs: 60_000 };
/** Of memory, while nothing is done. */
const STILL_BYTES = 2 ** 20;

/**
 * G17 to G19, in an installation of its own: what so many keys take, and how long nothing is acknowledged
 * after a kill. An interruption ends it. Throws unless the very first key is a duplicate afterwards, with its
 * first response.
 */
export async function manyKeys(
  keys: number,
  interrupted: AbortSignal,
): Promise<ManyKeysFigures & { measured: Measured[] }> {
  const figures = await measureInstance(1, (opened) => unlessAborted(measure(opened, keys), interrupted));
  return { ...figures, measured: judgedKeys(figures) };
}

async function measure({ instance, api }: OpenedInstance, keys: number): Promise<ManyKeysFigures> {
  const { id } = await callDone(api, 'POST', '/customers', { name: 'Bench', email: 'bench@example.com' });
  await callDone(api, 'POST', '/meters', { key: 'bench', name: 'Bench', aggregation: 'sum' });
  const send = createSender(api, String(id));
  const first = await send('first');
  if (first.status !== 201) throw new Error(`the first event returned ${first.status}`);
  await restart(instance, send, 'few');
  const few = await memoryAtRest(instance);
  await instance.stop();
  const { cpuMicrosPerKey } = await fill(instance.dataDir, keys);
  await instance.start();
  const restartSeconds: number[] = [];
  for (let round = 0; round < RESTARTS; round++) {
    restartSeconds.push(rounded((await restart(instance, send, `restart-${round}`)) / 1_000));
    mustBeReplayed(first, await send('first'));
  }
  const all = await memoryAtRest(instance);
  const keyFileBytes = await lengthOfFiles(dataDirAt(instance.dataDir).keys);
  return { keys, memoryBytes: { few, all }, keyFileBytes, restartSeconds, cpuMicrosPerKey };
}

export function judgedKeys(figures: ManyKeysFigures): Measured[] {
  const { keys, memoryBytes, keyFileBytes, restartSeconds, cpuMicrosPerKey } = figures;
  const isSmaller = keys < GOAL_KEYS;
  const common = { isSmaller };
  const count = `${keys / 1e6} M keys`;
  const mib = (bytes: number) => Math.round(bytes / 2 ** 20);
  const memory = `${mib(memoryBytes.all)} MiB, without keys ${mib(memoryBytes.few)}`;
  const restarts = `${restartSeconds.join(', ')} s; after each the oldest key was a duplicate`;
  return [
    {
      id: 'G17',
      value: rounded((memoryBytes.all - memoryBytes.few) / keys),
      ...common,
      note: `${count}: ${memory}`,
    },
    { id: 'G18', value: median(restartSeconds), ...common, note: `${count}: ${restarts}` },
    {
      id: 'G19',
      value: rounded(keyFileBytes / keys),
      ...common,
      note: `${count}, ${cpuMicrosPerKey} µs of CPU to add one`,
    },
  ];
}

type Send = (key: string) => Promise<ApiResponse>;

function createSender(api: Api, customerId: string): Send {
  const body = JSON.stringify({ customerId, meterId: 'bench', value: 1 });
  return (key) => api.call('POST', '/usage/events', { body, headers: { 'idempotency-key': key } });
}

/** Milliseconds from the kill to the next acknowledgement. */
async function restart(instance: Instance, send: Send, key: string): Promise<number> {
  await pass(WELL_AFTER_MS);
  return await whilePaused(instance.pid('control side'), async () => {
    const killedAt = performance.now();
    await instance.kill('data plane');
    for (;;) {
      const response = await send(key).catch(() => undefined);
      const passedMs = performance.now() - killedAt;
      // 200 when an earlier try was stored and its response lost.
      if (response?.status === 201 || response?.status === 200) return passedMs;
      if (passedMs > GIVEN_UP_MS) throw new Error('the data plane does not come back');
      await pass(ASK_EVERY_MS);
    }
  });
}

/** Throws unless the second is the response of a duplicate of the first. */
export function mustBeReplayed(first: ApiResponse, again: ApiResponse): void {
  const idOf = ({ body }: ApiResponse) => (body as { id?: string } | undefined)?.id;
  const isReplayed = again.headers['idempotent-replayed'] === 'true' && idOf(again) === idOf(first);
  if (!isReplayed) throw new Error(`the oldest key is no duplicate any more: ${again.status}`);
}

async function fill(dataDir: string, keys: number): Promise<{ cpuMicrosPerKey: number }> {
  const filled = await runBaseline('../suite/fill-keys', FILL_PATIENCE_MS, dataDir, String(keys));
  return filled as { cpuMicrosPerKey: number };
}

/** Of the process alone: what it has mapped from files can be dropped at any time, and is not counted. */
async function memoryAtRest(instance: Instance): Promise<number> {
  const endsAt = performance.now() + REST.timeoutMs;
  let bytes = ownMemory(instance.pid('data plane'));
  for (let still = 0; still < REST.looks && performance.now() < endsAt; still++) {
    await pass(REST.lookEveryMs);
    const now = ownMemory(instance.pid('data plane'));
    if (Math.abs(now - bytes) > STILL_BYTES) still = 0;
    bytes = now;
  }
  return bytes;
}

function ownMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kibibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  return (kibibytes('RssAnon') + kibibytes('RssShmem')) * 1024;
}
