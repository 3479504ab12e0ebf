import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { readEndpoints } from '../../infra/platform/endpoints-file.ts';
import { type Api, createApi, getPatiently } from '../../tests/support/api.ts';
import { type Instance, startInstance } from '../../tests/support/instance.ts';
import type { Driven } from './drive.ts';

/** An instance with customers and a meter, for as long as a suite runs. */
export interface Scenario {
  instance: Instance;
  api: Api;
  postgresUrl: string;
  customers: string[];
  meterKey: string;
  /** How long each run of a pair takes. */
  runMs: number;
  rounds: number;
}

const METER_KEY = 'bench';
const CUSTOMERS = 10;
const COUNTED_PATIENCE_MS = 400_000;

export async function openScenario(sizes: Pick<Scenario, 'runMs' | 'rounds'>): Promise<Scenario> {
  const instance = await startInstance({ LOG_LEVEL: 'warn' });
  const api = createApi({ origin: instance.origin, key: instance.keys().live.secret, connections: 4 });
  const meter = { key: METER_KEY, name: 'Bench', aggregation: 'sum' };
  await api.call('POST', '/meters', { body: JSON.stringify(meter) });
  const customers: string[] = [];
  for (let number = 0; number < CUSTOMERS; number++) {
    const body = JSON.stringify({ name: `Bench ${number}`, email: 'bench@example.com' });
    customers.push(String(((await api.call('POST', '/customers', { body })).body as { id: string }).id));
  }
  const postgresUrl = readEndpoints(dataDirAt(instance.dataDir).endpoints)?.postgresUrl ?? '';
  return { instance, api, postgresUrl, customers, meterKey: METER_KEY, ...sizes };
}

export async function closeScenario({ api, instance }: Scenario): Promise<void> {
  await api.close();
  await instance.remove();
}

/** How this scenario's instance is driven. */
export function toward(
  scenario: Scenario,
  more: Pick<Driven, 'batch' | 'connections' | 'durationMs'>,
): Driven {
  const { instance, customers, meterKey } = scenario;
  return { url: instance.origin, key: instance.keys().live.secret, customers, meterKey, ...more };
}

/** Until all that was acknowledged is counted. */
export async function waitForAll({ api, customers, meterKey }: Scenario): Promise<void> {
  const path = `/usage/${customers[0]}/${meterKey}?consistency=strong`;
  const { status } = await getPatiently(api, path, COUNTED_PATIENCE_MS);
  if (status !== 200) throw new Error(`${path} returned ${status}`);
}

/** Bytes of the files below a folder; what goes away meanwhile counts as nothing. */
export async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.reduce((sum, entry) => {
    if (!entry.isFile()) return sum;
    const found = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false });
    return sum + (found ? found.blocks * 512 : 0);
  }, 0);
}
