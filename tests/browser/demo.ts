import { CUSTOMERS } from '../../app/demo/customers.ts';
import { seenInTime } from '../support/in-time.ts';
import type { Call } from './call-api.ts';

/** What tests need of the demo's data beyond the names that app/demo/customers.ts has. */
export interface Demo {
  /** Of the endpoint that is down, and has deliveries that wait. */
  endpointId: string;
  /** Subscriptions of the plan Business. */
  business: number;
}

type Listed<T> = { data: T[]; total: number };

const WITHIN = { timeoutMs: 120_000, everyMs: 200 };

/** Resolves when all of it is there, counted and settled. */
export async function awaitDemo(call: Call): Promise<Demo> {
  await seenInTime(() => areSubscriptionsMoved(call), WITHIN, 'the subscriptions of the demo');
  const endpointId = await seenInTime(
    () => failingEndpoint(call),
    WITHIN,
    'a delivery of the demo that fails',
  );
  await seenInTime(() => isSettled(call), WITHIN, 'the credits and levels of the demo');
  return { endpointId, business: CUSTOMERS.filter(({ plan }) => plan === 'business').length };
}

/** The last that the demo does. */
async function areSubscriptionsMoved(call: Call): Promise<true | undefined> {
  for (const status of ['past_due', 'paused', 'canceled'] as const) {
    const { total } = await call<Listed<unknown>>('GET', `/subscriptions?status=${status}`);
    if (total !== CUSTOMERS.filter(({ story }) => story?.becomes === status).length) return undefined;
  }
  const { data } = await call<Listed<{ cancelAt?: string }>>('GET', '/subscriptions?customerId=quarry');
  return data[0]?.cancelAt === undefined ? undefined : true;
}

async function failingEndpoint(call: Call): Promise<string | undefined> {
  const { data } = await call<Listed<{ endpointId: string; lastError?: string }>>(
    'GET',
    '/webhooks/deliveries?status=pending',
  );
  return data.find(({ lastError }) => lastError !== undefined)?.endpointId;
}

/** One customer has used up all credits; one is the first of those that are beyond a limit. */
async function isSettled(call: Call): Promise<true | undefined> {
  const { balance } = await call<{ balance: number }>('GET', '/customers/ember/credits');
  const { data } = await call<Listed<unknown>>('GET', '/usage/levels?above=0.8');
  const near = CUSTOMERS.flatMap(({ used }) => Object.values(used)).filter((share) => share > 0.81);
  return balance === 0 && data.length >= near.length ? true : undefined;
}
