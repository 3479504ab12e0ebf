import { setTimeout as pass } from 'node:timers/promises';
import {
  type Api,
  type ApiResponse,
  type CallOptions,
  getPatiently,
  type Method,
} from '../../support/api.ts';
import { numberText } from '../../support/exact.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Random } from '../../support/random.ts';
import { untilResponse } from '../until-response.ts';

/**
 * Customers of a meter with credit rate 1 whose limits change, made through the public API. What is recorded
 * here of a change is the time in its response: usage before it falls under the limits before.
 */
export interface LimitedWorld {
  customers: LimitedCustomer[];
  /** Nothing is used before it. */
  startMs: number;
  planIds: Map<PlanValue, string>;
  /** Some customers are on this one, which is edited for all of them. */
  sharedPlanId: string;
}

/** The history of one customer's limits, by the times in the responses. */
export interface LimitedCustomer {
  id: string;
  /** The one that runs. */
  subscriptionId?: string;
  /** The one that the clock is to end. */
  endsAs?: string;
  /** What the plan gives, each from its time on; undefined: there is no plan. */
  plans: Array<{ sinceMs: number; value: PlanValue | undefined }>;
  /** A subscription begins, or has ended. */
  periods: Array<{ sinceMs: number; isSubscribed: boolean }>;
  /** In place of the plan's. */
  overrides: Array<{ fromMs: number; toMs: number; value: number }>;
  /** Decimal texts. */
  grants: string[];
}

/** Null: unlimited. */
export type PlanValue = number | null;

export const JOBS = 'jobs';
export const LIMITED_AMOUNTS = ['7', '90', '5000'];
/** The limits of plans; null is unlimited. */
const PLAN_VALUES: readonly PlanValue[] = [5, 40, 300, null];
const SHARED_VALUES: readonly number[] = [3, 30, 120, 700];
const [SHARING, ALONE] = [2, 4];
const PATIENCE_MS = 60_000;
const AT_REST = { timeoutMs: PATIENCE_MS, everyMs: 100 };

export async function makeLimitedWorld(api: Api): Promise<LimitedWorld> {
  await repeatUntilDone(api, 'POST', '/meters', { key: JOBS, name: JOBS, aggregation: 'sum', creditRate: 1 });
  await repeatUntilDone(api, 'POST', '/features', { key: JOBS, name: JOBS, type: 'metered', meterKey: JOBS });
  const planIds = new Map<PlanValue, string>();
  for (const value of PLAN_VALUES) planIds.set(value, await makePlan(api, `jobs-${value}`, value));
  const sharedValue = 30;
  const sharedPlanId = await makePlan(api, 'jobs-shared', sharedValue);
  const customers: LimitedCustomer[] = [];
  for (let number = 0; number < SHARING + ALONE; number += 1) {
    const name = `Limited ${number}`;
    const { id } = await repeatUntilDone(api, 'POST', '/customers', { name, email: 'limited@example.com' });
    const customer: LimitedCustomer = { id: String(id), plans: [], periods: [], overrides: [], grants: [] };
    const isSharing = number < SHARING;
    const planId = isSharing ? sharedPlanId : (planIds.get(40) ?? '');
    await subscribe(api, customer, { planId, value: isSharing ? sharedValue : 40 });
    customers.push(customer);
  }
  const startMs = Math.max(...customers.flatMap(({ periods }) => periods.map(({ sinceMs }) => sinceMs)));
  return { customers, startMs, planIds, sharedPlanId };
}

/** One change of each customer, while usage goes on and processes are killed. */
export async function changeLimits(api: Api, world: LimitedWorld, random: Random): Promise<void> {
  const [sharing, alone] = [world.customers.slice(0, SHARING), world.customers.slice(SHARING)];
  await pass(random.below(400));
  await editSharedPlan(api, world, { sharing, value: random.pick(SHARED_VALUES) });
  for (const customer of alone) {
    await pass(random.below(150));
    const value = random.pick(PLAN_VALUES);
    const act = random.pick([changePlan, changePlan, overrideUntil, cancelNow, cancelSoon]);
    if (customer.subscriptionId) await act(api, customer, { planId: world.planIds.get(value) ?? '', value });
    else await subscribe(api, customer, { planId: world.planIds.get(value) ?? '', value });
  }
}

/** What time and the fan-out have still to do is done before the next change. */
export async function limitsAtRest(api: Api, { customers }: LimitedWorld): Promise<void> {
  for (const [at, customer] of customers.entries()) {
    const { id, endsAs } = customer;
    if (endsAs) {
      const isEnded = async () =>
        (await read(api, `/subscriptions/${endsAs}`)).status === 'canceled' || undefined;
      await seenInTime(isEnded, AT_REST, `the end of ${endsAs}`);
      delete customer.endsAs;
    }
    if (at >= SHARING) continue;
    const due = String(customer.plans.at(-1)?.value);
    const isRecorded = async () => {
      const { limit } = await read(api, `/usage/${id}/${JOBS}`);
      return numberText(limit) === due || undefined;
    };
    await seenInTime(isRecorded, AT_REST, `a limit of ${due}`);
  }
}

interface OnPlan {
  planId: string;
  value: PlanValue;
}

async function subscribe(api: Api, customer: LimitedCustomer, { planId, value }: OnPlan): Promise<void> {
  const body = JSON.stringify({ customerId: customer.id, planId });
  const headers = { 'idempotency-key': `subscribe-${customer.id}-${customer.periods.length}` };
  const response = await responded(api, 'POST', '/subscriptions', { body, headers });
  if (response.status >= 300) throw new Error(`subscribing: ${JSON.stringify(response.body)}`);
  const { id, currentPeriodStart } = response.body as Made;
  const sinceMs = Date.parse(String(currentPeriodStart));
  customer.subscriptionId = String(id);
  customer.plans.push({ sinceMs, value });
  customer.periods.push({ sinceMs, isSubscribed: true });
}

async function changePlan(api: Api, customer: LimitedCustomer, { planId, value }: OnPlan): Promise<void> {
  if (customer.plans.at(-1)?.value === value) return;
  const id = String(customer.subscriptionId);
  await repeatUntilDone(api, 'PATCH', `/subscriptions/${id}`, { planId });
  // The audit log says when: repeated, it changes nothing and leaves no other entry.
  const { data } = await read(api, `/audit-log?objectId=${id}&pageSize=1`);
  const [entry] = data as Made[];
  if (entry?.action !== 'subscriptions.update') throw new Error(`no entry of the change of ${id}`);
  customer.plans.push({ sinceMs: Date.parse(String(entry.createdAt)), value });
}

async function cancelNow(api: Api, customer: LimitedCustomer): Promise<void> {
  const path = `/subscriptions/${customer.subscriptionId}/cancel`;
  const { canceledAt } = await repeatUntilDone(api, 'POST', path, { at: 'now' });
  endAt(customer, Date.parse(String(canceledAt)));
}

/** By the clock, which may be killed before it notices. */
async function cancelSoon(api: Api, customer: LimitedCustomer): Promise<void> {
  const id = String(customer.subscriptionId);
  const cancelAt = new Date(Date.now() + 2_000).toISOString();
  await repeatUntilDone(api, 'PATCH', `/subscriptions/${id}`, { cancelAt });
  customer.endsAs = id;
  endAt(customer, Date.parse(cancelAt));
}

function endAt(customer: LimitedCustomer, sinceMs: number): void {
  delete customer.subscriptionId;
  customer.plans.push({ sinceMs, value: undefined });
  customer.periods.push({ sinceMs, isSubscribed: false });
}

/** Whether it was written is read back: one that is repeated may have expired by then. */
async function overrideUntil(api: Api, customer: LimitedCustomer): Promise<void> {
  const path = `/customers/${customer.id}/overrides/${JOBS}`;
  const toMs = Date.now() + 4_000;
  const value = 150 + customer.overrides.length;
  const expiresAt = new Date(toMs).toISOString();
  await responded(api, 'PUT', path, { body: JSON.stringify({ value, expiresAt }) });
  const { status, body } = await getPatiently(api, path, PATIENCE_MS);
  const written = body as Made;
  if (status !== 200 || Date.parse(String(written.expiresAt)) !== toMs) return;
  const fromMs = Date.parse(String(written.updatedAt));
  // It replaces the one before, which may not have expired yet.
  const last = customer.overrides.at(-1);
  if (last) last.toMs = Math.min(last.toMs, fromMs);
  customer.overrides.push({ fromMs, toMs, value });
}

async function editSharedPlan(
  api: Api,
  { sharedPlanId }: LimitedWorld,
  { sharing, value }: { sharing: LimitedCustomer[]; value: number },
): Promise<void> {
  if (sharing[0]?.plans.at(-1)?.value === value) return;
  await setPlan(api, sharedPlanId, value);
  const { updatedAt } = await read(api, `/plans/${sharedPlanId}`);
  const sinceMs = Date.parse(String(updatedAt));
  for (const customer of sharing) customer.plans.push({ sinceMs, value });
}

async function makePlan(api: Api, name: string, value: PlanValue): Promise<string> {
  const { id } = await repeatUntilDone(api, 'POST', '/plans', { name, productId: JOBS });
  await setPlan(api, String(id), value);
  await repeatUntilDone(api, 'POST', `/plans/${id}/publish`);
  return String(id);
}

async function setPlan(api: Api, planId: string, value: PlanValue): Promise<void> {
  const entitlements = [{ featureKey: JOBS, value }];
  await repeatUntilDone(api, 'PUT', `/plans/${planId}/entitlements`, { entitlements });
}

type Made = Record<string, unknown>;

/** Repeats a request until its response comes: each of these changes nothing the second time. */
async function responded(api: Api, method: Method, path: string, options: CallOptions): Promise<ApiResponse> {
  const isBusy = ({ status }: ApiResponse) => status >= 500 || status === 409;
  const send = () => api.call(method, path, options);
  return (await untilResponse(send, `${method} ${path}`, isBusy)).response;
}

/** The same; throws unless the status is 2xx. Processes are killed meanwhile. */
async function repeatUntilDone(api: Api, method: Method, path: string, body?: object): Promise<Made> {
  const response = await responded(api, method, path, body ? { body: JSON.stringify(body) } : {});
  if (response.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(response.body)}`);
  return response.body as Made;
}

/** Read once its store is available again. */
async function read(api: Api, path: string): Promise<Made> {
  return (await getPatiently(api, path, PATIENCE_MS)).body as Made;
}
