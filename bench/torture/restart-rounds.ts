import { setTimeout as pass } from 'node:timers/promises';
import { type Api, createApi } from '../api.ts';
import { type Instance, startInstance } from '../instance.ts';
import { runLoad } from '../load-run.ts';
import { makeWorld } from '../make-world.ts';
import type { World } from '../world.ts';
import type { RoundReport, TortureOptions, TorturePromise } from './promise.ts';

const FIRST_ANSWER_MS_MAX = 2_000;
/** Real events over HTTP. Beyond 262,144 there is a checkpoint that a kill does not take away. */
const KEYS = { short: 200_000, long: 10_000_000 };

/** Kills the data plane of an installation with many keys, and times how long nothing is acknowledged. */
export const quickRestart: TorturePromise = {
  promises: [11],
  title: 'the data plane is killed with many keys behind it',
  rounds: { short: 2, long: 10 },
  async open(options) {
    const instance = await startInstance({ LOG_LEVEL: 'warn' });
    const key = instance.keys().live.secret;
    const api = createApi({ origin: instance.origin, key, connections: 1 });
    const close = async ({ keep }: { keep: boolean }): Promise<string | undefined> => {
      await api.close();
      if (keep) return await instance.leave();
      await instance.remove();
      return undefined;
    };
    try {
      const world = await makeWorld(api);
      const keys = await fill(instance, world, options);
      return {
        round: (number) => restartRound(instance, { api, world, number, keys }),
        close,
      };
    } catch (error) {
      await close({ keep: false });
      throw error;
    }
  },
};

const FILL_MS = 2_000;
const CONNECTIONS = 6;

/** As fast as it is acknowledged; the control side is held still meanwhile. Gives the number of keys. */
async function fill(instance: Instance, world: World, { form, say }: TortureOptions): Promise<number> {
  const { host, port } = new URL(instance.origin);
  const to = { host, port: Number(port), key: instance.keys().live.secret, connections: CONNECTIONS };
  const controlSide = instance.pid('control side');
  process.kill(controlSide, 'SIGSTOP');
  let keys = 0;
  for (let told = 1; keys < KEYS[form]; ) {
    const run = await runLoad({ ...to, world, nowMs: Date.now(), spreadMs: 600_000, durationMs: FILL_MS });
    keys += run.acknowledged;
    if (keys < (told * KEYS[form]) / 10) continue;
    say(`${keys} keys`);
    told = Math.floor((keys * 10) / KEYS[form]) + 1;
  }
  return keys;
}

interface RestartOf {
  api: Api;
  world: World;
  number: number;
  keys: number;
}

async function restartRound(
  instance: Instance,
  { api, world, number, keys }: RestartOf,
): Promise<RoundReport> {
  const body = JSON.stringify({ customerId: world.customers[0]?.id, meterId: 'api_calls', value: 1 });
  const headers = { 'idempotency-key': `restart-${number}` };
  const killedAt = performance.now();
  await instance.kill('data plane');
  for (;;) {
    const answer = await api.call('POST', '/usage/events', { body, headers }).catch(() => undefined);
    const firstAnswerMs = Math.round(performance.now() - killedAt);
    if (answer?.status === 201) return judged(firstAnswerMs, keys);
    if (firstAnswerMs > GIVEN_UP_MS) return judged(firstAnswerMs, keys);
    await pass(ASK_EVERY_MS);
  }
}

const ASK_EVERY_MS = 5;
const GIVEN_UP_MS = 120_000;

function judged(firstAnswerMs: number, keys: number): RoundReport {
  const late = firstAnswerMs > FIRST_ANSWER_MS_MAX;
  const problems = late ? [`with ${keys} keys the first acknowledgement came after ${firstAnswerMs} ms`] : [];
  return { counts: { restarts: 1 }, peaks: { keys, firstAnswerMs }, problems };
}
