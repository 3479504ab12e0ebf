/**
 * `npm run bench:feeds`: feeds of entitlements, each of one customer on its own connection: what they cost
 * while nothing changes, and while usage changes so many counters a second and an administrator some
 * overrides; and how old a change is when a client has it, from its acknowledgement. Prints and stores
 * figures; asserts nothing. `-- --connections N`, `-- --rate N` of counters, `-- --seconds N` of changes.
 */
import { Agent, get } from 'node:http';
import { setTimeout as pass } from 'node:timers/promises';
import { type Api, callDone } from '../../tests/support/api.ts';
import type { Instance } from '../../tests/support/instance.ts';
import type { OpenedInstance } from '../../tests/support/open-instance.ts';
import { type InstanceCosts, instanceCosts, measureInstance } from '../measure-instance.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript } from '../read-options.ts';
import { keepResult } from '../result-file.ts';
import { spreadOf } from '../samples.ts';

const OPTIONS = {
  connections: { type: 'string', default: '5000' },
  rate: { type: 'string', default: '1000' },
  seconds: { type: 'string', default: '30' },
} as const;
const AT_ONCE = 50;
const IDLE_MS = 10_000;
/** Usage is sent so often; of as many customers as the rate asks for. */
const SENDS_PER_SECOND = 10;
const OVERRIDES_PER_SECOND = 5;
/** A change that no client has by then is counted as not told. */
const PATIENCE_MS = 10_000;
const READY_TIMEOUT_MS = 60_000;

type Numbers = Record<keyof typeof OPTIONS, number>;

async function main(): Promise<void> {
  const values = readOptions(OPTIONS);
  const numbers: Numbers = {
    connections: numberOption('connections', values.connections, { from: 1, to: 5_000, whole: true }),
    rate: numberOption('rate', values.rate, OF_A_SCRIPT.rate),
    seconds: numberOption('seconds', values.seconds, OF_A_SCRIPT.seconds),
  };
  const figures = await measureInstance(AT_ONCE, (opened) => measure(opened, numbers));
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${keepResult('feeds', figures)}\n`);
}

async function measure({ instance, api }: OpenedInstance, numbers: Numbers): Promise<object> {
  const { connections, rate, seconds } = numbers;
  const customers = await createCustomers(api, connections);
  const before = instanceCosts(instance);
  const feeds = new Feeds(instance);
  const openedAt = performance.now();
  await severalAtOnce(customers, (customer) => feeds.open(customer));
  const openSeconds = (performance.now() - openedAt) / 1_000;
  await pass(3_000);
  const idleFrom = instanceCosts(instance);
  await pass(IDLE_MS);
  const idleTo = instanceCosts(instance);
  const took = await change(api, feeds, { customers, rate, seconds });
  const changed = instanceCosts(instance);
  await pass(PATIENCE_MS);
  feeds.close();
  return {
    ...numbers,
    openedPerSecond: Math.round(connections / openSeconds),
    rssMib: { withoutFeeds: mib(before), idle: mib(idleTo), changing: mib(changed) },
    coresIdle: cores(idleFrom, idleTo, IDLE_MS),
    coresChanging: cores(idleTo, changed, took),
    countersPerSecond: Math.round((feeds.counters.changes / took) * 1_000),
    counters: feeds.counters.figures(),
    overrides: feeds.overrides.figures(),
    feedsEnded: feeds.ended,
  };
}

async function createCustomers(api: Api, count: number): Promise<string[]> {
  await callDone(api, 'POST', '/meters', { key: 'calls', name: 'Calls', aggregation: 'sum' });
  await callDone(api, 'POST', '/features', {
    key: 'calls',
    name: 'Calls',
    type: 'metered',
    meterKey: 'calls',
  });
  for (const [key, type] of [
    ['sso', 'boolean'],
    ['seats', 'limit'],
  ]) {
    await callDone(api, 'POST', '/features', { key, name: key, type });
  }
  const plan = await callDone(api, 'POST', '/plans', { productId: 'prod', name: 'Feeds' });
  const entitlements = [
    { featureKey: 'calls', value: 1_000_000 },
    { featureKey: 'sso', value: true },
    { featureKey: 'seats', value: 5 },
  ];
  await callDone(api, 'PUT', `/plans/${plan.id}/entitlements`, { entitlements });
  const customers: string[] = [];
  await severalAtOnce([...Array(count).keys()], async () => {
    const { id } = await callDone(api, 'POST', '/customers', { name: 'Ann', email: 'ann@example.com' });
    await callDone(api, 'POST', '/subscriptions', { customerId: id, planId: plan.id });
    customers.push(String(id));
  });
  return customers;
}

async function severalAtOnce<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  const rest = all.values();
  const work = async () => {
    for (const one of rest) await act(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

interface Plan {
  customers: readonly string[];
  rate: number;
  seconds: number;
}

/** At fixed times, whatever the server takes. Resolves with the milliseconds that it took. */
async function change(api: Api, feeds: Feeds, { customers, rate, seconds }: Plan): Promise<number> {
  const from = performance.now();
  const sends = Math.round(seconds * SENDS_PER_SECOND);
  const customerAt = (at: number) => customers[at % customers.length] ?? '';
  const perSend = Math.min(500, Math.round(rate / SENDS_PER_SECOND));
  const open: Array<Promise<void>> = [];
  for (let send = 0; send < sends; send += 1) {
    await pass(Math.max(0, from + (send / SENDS_PER_SECOND) * 1_000 - performance.now()));
    const used = Array.from({ length: perSend }, (_, at) => customerAt(send * perSend + at));
    open.push(use(api, feeds, { used, send }));
    if (send % (SENDS_PER_SECOND / OVERRIDES_PER_SECOND) === 0) {
      const customer = customerAt(send * 7);
      open.push(override(api, feeds, { customer, value: 10 + send }));
    }
  }
  await Promise.all(open);
  return performance.now() - from;
}

async function use(api: Api, feeds: Feeds, { used, send }: { used: string[]; send: number }): Promise<void> {
  const events = used.map((customerId) => {
    return { idempotencyKey: `feeds ${send} ${customerId}`, customerId, meterId: 'calls', value: 1 };
  });
  await callDone(api, 'POST', '/usage/events/batch', { events });
  for (const customer of used) feeds.counters.changed(customer, (feeds.counters.latest(customer) ?? 0) + 1);
}

async function override(
  api: Api,
  feeds: Feeds,
  { customer, value }: { customer: string; value: number },
): Promise<void> {
  await callDone(api, 'PUT', `/customers/${customer}/overrides/seats`, { value });
  feeds.overrides.changed(customer, value);
}

/** Numbers that only grow, by customer, and when each was changed. */
class Changes {
  changes = 0;
  private readonly seen = new Map<string, number>();
  private readonly waiting = new Map<string, Array<{ value: number; at: number }>>();
  private readonly last = new Map<string, number>();
  private readonly agesMs: number[] = [];

  latest(customer: string): number | undefined {
    return this.last.get(customer);
  }

  changed(customer: string, value: number): void {
    this.changes += 1;
    this.last.set(customer, value);
    // A client may have it before the one that changed it has the response.
    if ((this.seen.get(customer) ?? -1) >= value) this.agesMs.push(0);
    else this.waitingOf(customer).push({ value, at: performance.now() });
  }

  told(customer: string, value: number): void {
    this.seen.set(customer, value);
    const waiting = this.waitingOf(customer);
    for (let [first] = waiting; first && first.value <= value; [first] = waiting) {
      waiting.shift();
      this.agesMs.push(performance.now() - first.at);
    }
  }

  figures(): object {
    const missing = [...this.waiting.values()].reduce((sum, { length }) => sum + length, 0);
    const ageMs = this.agesMs.length === 0 ? {} : spreadOf(this.agesMs, Math.round);
    return { changes: this.changes, missing, ageMs };
  }

  private waitingOf(customer: string): Array<{ value: number; at: number }> {
    const waiting = this.waiting.get(customer) ?? [];
    this.waiting.set(customer, waiting);
    return waiting;
  }
}

/** One stream for each customer, through the public port. */
class Feeds {
  readonly counters = new Changes();
  readonly overrides = new Changes();
  ended = 0;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  private readonly origin: string;
  private readonly headers: { authorization: string };
  private isClosed = false;

  constructor({ origin, keys }: Instance) {
    this.origin = origin;
    this.headers = { authorization: `Bearer ${keys().live.secret}` };
  }

  /** Resolves when the client has all of the customer. */
  open(customer: string): Promise<void> {
    const url = `${this.origin}/api/v1/entitlements/feed?customerIds=${customer}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('a feed was not ready in time')), READY_TIMEOUT_MS);
      const request = get(url, { headers: this.headers, agent: this.agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`a feed returned ${response.statusCode}`));
        let rest = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          const blocks = (rest + text).split('\n\n');
          rest = blocks.pop() ?? '';
          for (const block of blocks) if (this.take(customer, block)) ready();
        });
        response.on('close', () => {
          if (!this.isClosed) this.ended += 1;
        });
      });
      const ready = () => {
        clearTimeout(timer);
        resolve();
      };
      request.on('error', (error) => (this.isClosed ? undefined : reject(error)));
    });
  }

  close(): void {
    this.isClosed = true;
    this.agent.destroy();
  }

  /** True for the event that says that the customer was sent. */
  private take(customer: string, block: string): boolean {
    const [, event, data = ''] = /event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
    if (event === 'customer' || event === 'usage') {
      const current = /"featureKey":"calls".*?"current":(\d+)/.exec(data)?.[1];
      if (current !== undefined) this.counters.told(customer, Number(current));
      const seats = /"featureKey":"seats".*?"limit":(\d+)/.exec(data)?.[1];
      if (seats !== undefined) this.overrides.told(customer, Number(seats));
    }
    return event === 'ready';
  }
}

function mib(costs: InstanceCosts): Record<string, number> {
  const { dataPlane, controlSide } = costs;
  const of = ({ rssBytes }: { rssBytes: number }) => Math.round(rssBytes / 2 ** 20);
  return { dataPlane: of(dataPlane), controlSide: of(controlSide) };
}

function cores(from: InstanceCosts, to: InstanceCosts, ms: number): Record<string, number> {
  const names = Object.keys(to) as Array<keyof InstanceCosts>;
  const shares = names.map((name) => {
    const micros = to[name].cpuMicros - from[name].cpuMicros;
    return [name, Math.round(micros / ms / 10) / 100];
  });
  return Object.fromEntries(shares);
}

await runScript('bench:feeds', main);
