import { setTimeout as pass } from 'node:timers/promises';
import { type Api, getPatiently } from '../../support/api.ts';
import { numberText } from '../../support/exact.ts';
import { creditUnits, expectedJobs, expectedSettlement } from './expected-settlement.ts';
import { JOBS, type LimitedCustomer, type LimitedWorld } from './limited-world.ts';
import type { RatedCustomer, RatedWorld } from './rated-world.ts';
import type { UsedEvent } from './usage-workload.ts';

export type SettlementJudge = ReturnType<typeof createSettlementJudge>;

const SETTLED_PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;
const READ_PATIENCE_MS = 30_000;

/** Whether everything that was acknowledged has been burned and notified, by the public API alone. */
export function createSettlementJudge(
  api: Api,
  { world, limited }: { world: RatedWorld; limited: LimitedWorld },
) {
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
  const { balance, unpaid } = await walletOf(api, customerId);
  if (balance - unpaid === rest && (balance === 0n || unpaid === 0n)) return [];
  return [`${customerId} has ${balance} and owes ${unpaid}, and it is to be ${rest} (10^-24)`];
}

async function walletOf(api: Api, customerId: string): Promise<{ balance: bigint; unpaid: bigint }> {
  const { body } = await getPatiently(api, `/customers/${customerId}/credits`, READ_PATIENCE_MS);
  const { balance, unpaid } = body as { balance: unknown; unpaid: unknown };
  return { balance: creditUnits(numberText(balance) ?? ''), unpaid: creditUnits(numberText(unpaid) ?? '') };
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
