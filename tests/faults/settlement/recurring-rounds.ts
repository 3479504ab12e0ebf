import { setTimeout as pass } from 'node:timers/promises';
import { type Api, callDone, getPatiently } from '../../support/api.ts';
import { numberText } from '../../support/exact.ts';
import type { Role } from '../../support/instance.ts';
import { openInstance } from '../../support/open-instance.ts';
import type { Random } from '../../support/random.ts';
import type { FaultOptions, FaultPromise, Round, RoundReport } from '../promise.ts';

/**
 * Subscriptions whose periods, or months, end while the process that grants their credits is killed, or
 * Postgres. Each has in the end exactly one grant of each period, and what was rolled over once.
 */
export const recurringKilled: FaultPromise = {
  promises: [21],
  name: 'recurring-credits',
  title: 'the control side and Postgres are killed while plans grant credits',
  rounds: { short: 3, long: 25 },
  async open(options) {
    const scenario = await openScenario(options);
    return { round: (round) => killRound(scenario, round) };
  },
};

type Scenario = Awaited<ReturnType<typeof openScenario>>;

async function openScenario(options: FaultOptions) {
  const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 8 });
  options.onEnd(close);
  const [periodic, monthly] = [await makePlan(api, 'period'), await makePlan(api, 'month')];
  return { instance, api, plans: { periodic, monthly } };
}

const AMOUNT = 64;
const ROLLOVER = { percent: 50, max: 20 };

async function makePlan(api: Api, every: 'period' | 'month'): Promise<string> {
  const { id } = await callDone(api, 'POST', '/plans', { name: every, productId: 'p' });
  const creditGrants = [{ amount: AMOUNT, every, expires: 'period_end', rollover: ROLLOVER }];
  await callDone(api, 'PUT', `/plans/${id}/credit-grants`, { creditGrants });
  return String(id);
}

const VICTIMS: readonly Role[] = ['control side', 'control side', 'postgres'];
const CUSTOMERS = 16;
/** Their first periods end so long after their requests, which a busy machine reads seconds later. */
const ENDS_MS = { least: 8_000, most: 9_000 };

async function killRound({ instance, api, plans }: Scenario, round: Round): Promise<RoundReport> {
  const { number, random, run } = round;
  const customers = await Promise.all(
    Array.from({ length: CUSTOMERS }, (_, at) => {
      const afterMs = ENDS_MS.least + random.below(ENDS_MS.most - ENDS_MS.least);
      return subscribe(api, { plans, isMonthly: at % 2 === 1, afterMs }, `${run}-${at}`);
    }),
  );
  await pass(random.below(ENDS_MS.most));
  const victim = VICTIMS[number % VICTIMS.length] ?? 'control side';
  await instance.kill(victim);
  const problems = await untilGranted(api, customers, random);
  return { counts: { [`kills of ${victim}`]: 1, subscriptions: CUSTOMERS }, problems };
}

function shortPeriod(planId: string, endMs: number): object {
  return { planId, currentPeriodEnd: new Date(endMs).toISOString() };
}

/** Of a year: its first month ends at this time. */
function shortMonth(planId: string, endMs: number): object {
  const start = new Date(endMs);
  // The same day of the month before, or its first days, where the month is shorter.
  start.setUTCDate(Math.min(start.getUTCDate(), 28));
  start.setUTCMonth(start.getUTCMonth() - 1);
  const billingAnchor = new Date(endMs).toISOString();
  return { planId, interval: 'year', currentPeriodStart: start.toISOString(), ...yearly(billingAnchor) };
}

function yearly(billingAnchor: string): object {
  const end = new Date(billingAnchor);
  end.setUTCFullYear(end.getUTCFullYear() + 1);
  return { billingAnchor, currentPeriodEnd: end.toISOString() };
}

interface Subscribed {
  plans: Scenario['plans'];
  isMonthly: boolean;
  afterMs: number;
}

async function subscribe(api: Api, { plans, isMonthly, afterMs }: Subscribed, name: string): Promise<string> {
  const { id } = await callDone(api, 'POST', '/customers', { name, email: 'payer@example.com' });
  const endMs = Date.now() + afterMs;
  const body = isMonthly ? shortMonth(plans.monthly, endMs) : shortPeriod(plans.periodic, endMs);
  await callDone(api, 'POST', '/subscriptions', { customerId: id, ...body });
  return String(id);
}

const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;
const READ_PATIENCE_MS = 30_000;
/** Of whatever would be granted a second time. */
const QUIET_MS = 2_500;

/** The first period lapses: half of it would be 32. */
const EXPECTED = [`grant ${AMOUNT}`, `expiry -${AMOUNT}`, `grant ${ROLLOVER.max}`, `grant ${AMOUNT}`].sort();

async function untilGranted(api: Api, customers: readonly string[], random: Random): Promise<string[]> {
  const until = Date.now() + PATIENCE_MS;
  let problems = await look(api, customers);
  for (; problems.length > 0 && Date.now() < until; problems = await look(api, customers)) {
    await pass(LOOK_EVERY_MS);
  }
  if (problems.length > 0) return problems;
  await pass(random.below(QUIET_MS));
  return look(api, customers);
}

async function look(api: Api, customers: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const id of customers) {
    const { body } = await getPatiently(
      api,
      `/customers/${id}/credits/ledger?pageSize=100`,
      READ_PATIENCE_MS,
    );
    const { data } = body as { data: Array<{ type: string; amount: unknown }> };
    const entries = data.map(({ type, amount }) => `${type} ${numberText(amount)}`).sort();
    if (entries.join() !== EXPECTED.join()) problems.push(`${id} has the entries ${entries.join(', ')}`);
  }
  return problems;
}
