import { setTimeout as pass } from 'node:timers/promises';
import { type Api, getPatiently } from '../../support/api.ts';
import { during } from '../../support/during.ts';
import { numberText } from '../../support/exact.ts';
import type { Role } from '../../support/instance.ts';
import { openInstance } from '../../support/open-instance.ts';
import { createRandom } from '../../support/random.ts';
import type { FaultOptions, FaultPromise, Round, RoundReport } from '../promise.ts';
import { creditUnits, expectedJobs, expectedSettlement } from './expected-settlement.ts';
import {
  changeLimits,
  JOBS,
  LIMITED_AMOUNTS,
  type LimitedCustomer,
  type LimitedWorld,
  limitsAtRest,
  makeLimitedWorld,
} from './limited-world.ts';
import {
  changeTokenRate,
  grantFirst,
  grantSome,
  makeRatedWorld,
  RATED_AMOUNTS,
  type RatedCustomer,
  type RatedWorld,
} from './rated-world.ts';
import { correctAll, startUsageWorkload, type UsedEvent } from './usage-workload.ts';

/**
 * Usage that costs credits, on time and late across period bounds, with a rate that changes half-way; with
 * corrections, and limits that change in each round by plans, plan edits, overrides and cancellations. What
 * settles it is killed while it does. Every customer has in the end exactly what was granted less what all
 * acknowledged usage costs, and emitted one event for each depletion and each crossing.
 */
export const settlementKilled: FaultPromise = {
  promises: [21],
  title: 'the control side and Postgres are killed while usage burns credits and crosses thresholds',
  rounds: { short: 3, long: 25 },
  async open(options) {
    const scenario = await openScenario(options);
    return { round: (round) => killRound(scenario, round), judge: () => judgeAgain(scenario) };
  },
};

type Scenario = Awaited<ReturnType<typeof openScenario>>;

async function openScenario(options: FaultOptions) {
  const environment = { LOG_LEVEL: 'warn', LOAD_LINGER_MS: '5' };
  const { instance, api, close } = await openInstance(environment, { connections: 8 });
  options.onEnd(close);
  const world = await makeRatedWorld(api);
  const limited = await makeLimitedWorld(api);
  const judge = createSettlementJudge(api, { world, limited });
  /** Everything that was acknowledged. */
  const used: UsedEvent[] = [];
  return { instance, api, world, limited, judge, used, options };
}

/** The aggregator lives in the control side. */
const VICTIMS: readonly Role[] = [...Array<Role>(4).fill('control side'), 'postgres'];
/** Ranges are settled by then, and more are coming. */
const UNTIL_KILL_MS = { least: 300, most: 900 };
const AFTER_KILL_MS = 700;

async function killRound(scenario: Scenario, { number, seed, random, run }: Round): Promise<RoundReport> {
  const { instance, api, world, limited, judge, used, options } = scenario;
  const victim = VICTIMS[number % VICTIMS.length] ?? 'control side';
  const before = { used: used.length, depletions: judge.depletions() };
  // The first customer has so little in the first round that what is used first depletes it.
  if (number === 0) await grantFirst(api, world);
  const others = number === 0 ? world.customers.slice(1) : world.customers;
  await grantSome(api, others, { random, amounts: RATED_AMOUNTS });
  await grantSome(api, limited.customers, { random, amounts: LIMITED_AMOUNTS });
  const usage = { api, world, limited, random, run, used };
  const { summary } = await during(startUsageWorkload(usage), async () => {
    const changes = changeLimits(api, limited, createRandom(seed + 1));
    // Awaited below, whatever the kill comes to.
    changes.catch(() => undefined);
    await pass(UNTIL_KILL_MS.least + random.below(UNTIL_KILL_MS.most));
    if (number === Math.floor(options.rounds / 2)) await changeTokenRate(api, world);
    await instance.kill(victim);
    await pass(AFTER_KILL_MS);
    await changes;
  });
  await limitsAtRest(api, limited);
  const problems = await judge.settled(used);
  await correctAll(usage);
  problems.push(...(await judge.settled(used)));
  const counts = {
    [`kills of ${victim}`]: 1,
    eventsAcknowledged: used.length - before.used,
    requestsRepeated: summary.repeated,
    depletions: judge.depletions() - before.depletions,
  };
  return { counts, problems };
}

/** A further settlement, which happens each minute while there is usage, burns and emits nothing more. */
const SWEPT_MS = 65_000;

async function judgeAgain({ judge, used, options }: Scenario): Promise<RoundReport> {
  if (options.form === 'long') await pass(SWEPT_MS);
  return { counts: { eventsSettled: used.length }, problems: await judge.settled(used) };
}

const SETTLED_PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;
const READ_PATIENCE_MS = 30_000;

/** Whether everything that was acknowledged has been burned and notified, by the public API alone. */
function createSettlementJudge(api: Api, { world, limited }: { world: RatedWorld; limited: LimitedWorld }) {
  /** What the usage of each had cost by the last quiet time. */
  const cost = new Map<string, bigint>();
  const depleted = new Map<string, number>();

  function expected(customer: RatedCustomer, used: readonly UsedEvent[]) {
    const { burned, crossed } = expectedSettlement(customer, world, used);
    return { rest: granted(customer) - burned, crossed };
  }

  async function look(used: readonly UsedEvent[]): Promise<string[]> {
    const problems: string[] = [];
    const notified = await notifiedOf(api);
    for (const customer of world.customers) {
      const { rest, crossed } = expected(customer, used);
      problems.push(...(await walletProblems(api, customer.id, rest)));
      const due = new Map([...crossed].map(([name, periods]) => [`${customer.id} ${name}`, periods]));
      const depletions = (depleted.get(customer.id) ?? 0) + (isDepleted(customer, rest) ? 1 : 0);
      due.set(`${customer.id} depleted`, depletions);
      const own = [...notified.keys()].filter((name) => name.startsWith(`${customer.id} `));
      for (const name of new Set([...due.keys(), ...own])) {
        const [is, ought] = [notified.get(name) ?? 0, due.get(name) ?? 0];
        if (is !== ought) problems.push(`${name} was notified ${is} times, expected ${ought}`);
      }
    }
    for (const customer of limited.customers) {
      const rest = granted(customer) - jobsPaid(customer, used) * creditUnits('1');
      problems.push(...(await walletProblems(api, customer.id, rest)));
    }
    return problems;
  }

  /** Grants come at quiet times only: in between a balance can only fall. */
  function isDepleted(customer: RatedCustomer, rest: bigint): boolean {
    const before = granted(customer) - (cost.get(customer.id) ?? 0n);
    return before > 0n && rest <= 0n;
  }

  return {
    /** Of all customers. */
    depletions: () => [...depleted.values()].reduce((sum, count) => sum + count, 0),
    /** Waits until all is settled. A sentence for whatever is not, or is too much. */
    async settled(used: readonly UsedEvent[]): Promise<string[]> {
      const until = Date.now() + SETTLED_PATIENCE_MS;
      let problems = await look(used);
      for (; problems.length > 0 && Date.now() < until; problems = await look(used))
        await pass(LOOK_EVERY_MS);
      for (const customer of world.customers) {
        const { rest } = expected(customer, used);
        if (isDepleted(customer, rest)) depleted.set(customer.id, (depleted.get(customer.id) ?? 0) + 1);
        cost.set(customer.id, granted(customer) - rest);
      }
      return problems;
    },
  };
}

function granted({ grants }: { grants: readonly string[] }): bigint {
  return grants.reduce((sum, amount) => sum + creditUnits(amount), 0n);
}

function jobsPaid(customer: LimitedCustomer, used: readonly UsedEvent[]): bigint {
  const own = used.filter(({ customerId, meterKey }) => customerId === customer.id && meterKey === JOBS);
  const jobs = own.map((event) => ({ ...event, value: Number(event.value) }));
  return BigInt(expectedJobs(customer, jobs));
}

async function walletProblems(api: Api, customerId: string, rest: bigint): Promise<string[]> {
  const { body } = await getPatiently(api, `/customers/${customerId}/credits`, READ_PATIENCE_MS);
  const wallet = body as { balance: unknown; unpaid: unknown };
  const balance = creditUnits(numberText(wallet.balance) ?? '');
  const unpaid = creditUnits(numberText(wallet.unpaid) ?? '');
  if (balance - unpaid === rest && (balance === 0n || unpaid === 0n)) return [];
  return [`${customerId} has ${balance} and owes ${unpaid}, and it is to be ${rest} (10^-24)`];
}

interface Notified {
  data: { customerId: string; meterId?: string; thresholdValue?: unknown };
}

/** How often each crossing and depletion was notified. */
async function notifiedOf(api: Api): Promise<Map<string, number>> {
  const notified = new Map<string, number>();
  const crossings = await eventsOf(api, 'usage.threshold');
  for (const { data } of [...crossings, ...(await eventsOf(api, 'credit.depleted'))]) {
    const { customerId, meterId, thresholdValue } = data;
    const what = meterId === undefined ? 'depleted' : `${meterId} ${numberText(thresholdValue)}`;
    const name = `${customerId} ${what}`;
    notified.set(name, (notified.get(name) ?? 0) + 1);
  }
  return notified;
}

async function eventsOf(api: Api, type: string): Promise<Notified[]> {
  const events: Notified[] = [];
  for (let page = 1; ; page++) {
    const path = `/webhooks/events?type=${type}&pageSize=100&page=${page}`;
    const { body } = await getPatiently(api, path, READ_PATIENCE_MS);
    const { data, hasNext } = body as { data: Notified[]; hasNext: boolean };
    events.push(...data);
    if (!hasNext) return events;
  }
}
