import { describe, expect, it, onTestFailed } from 'vitest';
import { type Api, createApi } from '../tests/support/api.ts';
import { auditOf } from '../tests/support/audit-of.ts';
import {
  compareBreakdowns,
  compareCounters,
  compareEvents,
  compareFolded,
  type Judged,
} from '../tests/support/compare.ts';
import { planRequests } from '../tests/support/generator.ts';
import { instanceOfThisFile } from '../tests/support/instance-of-this-file.ts';
import { createLedger } from '../tests/support/ledger.ts';
import { makeWorld } from '../tests/support/make-world.ts';
import { ofThisFile } from '../tests/support/of-this-file.ts';
import { type SendSummary, sendAll } from '../tests/support/send.ts';

/*
 * The main job over HTTP against the real processes: every response is judged, and every counter, breakdown
 * and stored event is compared with sums of the acknowledged responses that share no code with the product.
 * One instance runs through the whole file. The same under kill -9 of every process:
 * tests/faults/crash/kills.sys.test.ts.
 *
 * Seen red with: the end of a window counted with it.
 */
const CONNECTIONS = 6;
const PATIENCE_MS = 45_000;

const instance = await instanceOfThisFile();
const live = await ofThisFile(judgedWith(instance.keys().live.secret), ({ api }) => api.close());

interface Round {
  seed: number;
  items: number;
}

async function judgedWith(key: string): Promise<Judged> {
  const api: Api = createApi({ origin: instance.origin, key, connections: CONNECTIONS });
  const world = await makeWorld(api);
  return { api, world, ledger: createLedger(world) };
}

/** Sends a round; the same seed gives the same idempotency keys. */
function send({ api, ledger, world }: Judged, { seed, items }: Round): Promise<SendSummary> {
  onTestFailed(() => {
    process.stderr.write(`${instance.log()}\n`);
  });
  const requests = planRequests({ seed, items, run: `run-${seed}`, nowMs: Date.now(), world });
  return sendAll(requests, { api, ledger, connections: CONNECTIONS, patienceMs: PATIENCE_MS });
}

async function expectExact(judged: Judged): Promise<void> {
  expect(judged.ledger.problems()).toEqual([]);
  expect(await compareCounters(judged)).toEqual([]);
  expect(await compareBreakdowns(judged, ['all'], ['user', '$day'])).toEqual([]);
}

describe('the main job', () => {
  it('acknowledges 200,000 events one by one and counts them exactly', async () => {
    await send(live, { seed: 1, items: 200_000 });
    expect(live.ledger.size()).toBeGreaterThan(150_000);
    expect(live.ledger.problems()).toEqual([]);
    expect(await compareCounters(live)).toEqual([]);
    expect(await compareBreakdowns(live)).toEqual([]);
    expect(await compareFolded(live)).toEqual([]);
  });

  it('takes the same idempotency keys in test mode for other events', async () => {
    const test = await judgedWith(instance.keys().test.secret);
    await send(test, { seed: 1, items: 5_000 });
    await expectExact(test);
    await test.api.close();
    expect(await compareCounters(live)).toEqual([]);
  });

  it('acknowledges while the control side is dead, and counts it all afterwards', async () => {
    const supervisor = instance.pid('supervisor');
    // A stopped supervisor cannot start the control side again: it stays dead for as long as the test wants.
    process.kill(supervisor, 'SIGSTOP');
    try {
      await instance.kill('control side');
      const { repeated } = await send(live, { seed: 6, items: 20_000 });
      expect(repeated).toBe(0);
    } finally {
      process.kill(supervisor, 'SIGCONT');
    }
    await expectExact(live);
  });

  it('stops with 0, starts again, lists every event once and passes the audit', async () => {
    expect(await instance.stop()).toBe(0);
    await instance.start();
    await expectExact(live);
    expect(await compareBreakdowns(live, ['custom'], ['user', '$hour'])).toEqual([]);
    expect(await compareEvents(live)).toEqual([]);
    expect(await auditOf(instance.dataDir)).toEqual([]);
  });
});
