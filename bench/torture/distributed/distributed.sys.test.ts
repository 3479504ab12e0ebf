import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { compareBreakdowns, compareCounters, compareEvents, compareFolded } from '../../compare.ts';
import { planRequests } from '../../generator.ts';
import { sendAll } from '../../send.ts';
import { type DistributedInstallation, startInstallation } from './installation.ts';

const CONNECTIONS = 12;
const PATIENCE_MS = 60_000;

let installation: DistributedInstallation;

beforeAll(async () => {
  installation = await startInstallation({ processes: 2, connections: CONNECTIONS });
}, 120_000);

afterAll(() => installation?.close());

function send(seed: number, items: number) {
  onTestFailed(() => {
    for (const role of Object.values(installation.roles).flat()) {
      process.stderr.write(`${role.role} ${role.address.port}: ${role.log()}\n`);
    }
  });
  const { judged } = installation;
  const plan = { seed, items, run: `run-${seed}`, nowMs: Date.now(), world: judged.world };
  return sendAll(planRequests(plan), { ...judged, connections: CONNECTIONS, patienceMs: PATIENCE_MS });
}

describe('two processes of each role on a broker, a key store, Postgres and ClickHouse', () => {
  it('count every event exactly', async () => {
    const { judged } = installation;
    await send(1, 20_000);
    expect(judged.ledger.problems()).toEqual([]);
    expect(await compareCounters(judged)).toEqual([]);
    expect(await compareBreakdowns(judged)).toEqual([]);
    expect(await compareFolded(judged)).toEqual([]);
    expect(await compareEvents(judged)).toEqual([]);
  });
});
