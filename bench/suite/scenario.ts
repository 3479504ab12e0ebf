import { callDone } from '../../tests/support/api.ts';
import { type OpenedInstance, openInstance } from '../../tests/support/open-instance.ts';
import { processCost } from '../../tests/support/process-cost.ts';
import { waitUntilRead } from '../../tests/support/wait-until-counted.ts';
import { instanceCosts } from '../measure-instance.ts';
import type { Driven } from './drive.ts';

/** An instance with customers and a meter, for as long as a suite runs. */
export interface Scenario extends OpenedInstance {
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
  const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 4 });
  const meter = { key: METER_KEY, name: 'Bench', aggregation: 'sum' };
  await callDone(api, 'POST', '/meters', meter);
  const customers: string[] = [];
  for (let number = 0; number < CUSTOMERS; number++) {
    const body = { name: `Bench ${number}`, email: 'bench@example.com' };
    customers.push(String((await callDone(api, 'POST', '/customers', body)).id));
  }
  return {
    instance,
    api,
    close,
    postgresUrl: instance.postgresUrl(),
    customers,
    meterKey: METER_KEY,
    ...sizes,
  };
}

/** Ends with `work`, however that ends. */
export async function inOwnScenario<Found>(
  sizes: Pick<Scenario, 'runMs' | 'rounds'>,
  work: (scenario: Scenario) => Promise<Found>,
): Promise<Found> {
  const scenario = await openScenario(sizes);
  try {
    return await work(scenario);
  } finally {
    await scenario.close();
  }
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
  await waitUntilRead(api, `/usage/${customers[0]}/${meterKey}`, COUNTED_PATIENCE_MS);
}

/** What each process has cost so far, this one too, which is the load generator. */
export function costsByProcess({ instance }: Scenario) {
  const { dataPlane, controlSide, postgres } = instanceCosts(instance);
  const generator = processCost(process.pid);
  return { 'data plane': dataPlane, 'control side': controlSide, postgres, generator };
}
