import { type Api, callDone } from './api.ts';
import { CUSTOMERS, METERS, type MeterPlan, type World } from './world.ts';

/** Makes the planned customers and meters through the public API. */
export async function makeWorld(api: Api): Promise<World> {
  const customers = [];
  for (const plan of CUSTOMERS) {
    const { name, email, externalId } = plan;
    customers.push({ ...plan, id: await create(api, '/customers', { name, email, externalId }) });
  }
  const meters = [];
  for (const plan of METERS) {
    meters.push({ ...plan, id: plan.declared ? await create(api, '/meters', meterBody(plan)) : '' });
  }
  return { customers, meters };
}

function meterBody({ key, aggregation, property, unit, creditRate, creditRates }: MeterPlan): object {
  return {
    key,
    name: key,
    aggregation,
    property,
    unit,
    creditRate: creditRate === undefined ? undefined : Number(creditRate),
    creditRates: creditRates && {
      property: creditRates.property,
      rates: Object.fromEntries(
        Object.entries(creditRates.rates).map(([name, rate]) => [name, Number(rate)]),
      ),
    },
  };
}

async function create(api: Api, path: string, body: object): Promise<string> {
  return String((await callDone(api, 'POST', path, body)).id);
}
