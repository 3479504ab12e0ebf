import type { UsageView } from '../../domain/store/usage-views.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { base32 } from '../../schemas/primitives/ids.ts';
import { arrivalText } from '../../schemas/stored/event-row.ts';
import { AGGREGATIONS, type Aggregation } from '../../schemas/usage-limits.ts';
import { eventLine } from '../support/event-line.ts';
import type { Random } from '../support/random.ts';
import { groupedBy, unitsAsText } from '../support/usage-oracle.ts';

/** Meters are named by their aggregation. */
export interface UsedEvent {
  id: string;
  customerId: string;
  meterKey: Aggregation;
  units: bigint;
  occurredAtMs: number;
  createdAtMs: number;
  arrival: number;
  region: string | undefined;
  /** 0: ordinary usage. */
  change: number;
}

/** What was known of the changes at one time. */
export interface Snapshot {
  view: UsageView;
  /** As if nothing else had ever been sent. */
  standing: UsedEvent[];
  /** Events of visible changes and ordinary ones that are voided. */
  voided: UsedEvent[];
}

/** Of one environment. Everything is stored; which of it counts depends on the snapshot. */
export interface History {
  environment: string;
  events: UsedEvent[];
  voids: Array<{ event: UsedEvent; change: number }>;
  snapshots: Snapshot[];
}

export const HOUR_MS = 3_600_000;
/** Over the end of a month. */
export const FIRST_MS = Date.UTC(2026, 9, 30, 22);
export const LENGTH_MS = 70 * HOUR_MS;
export const CUSTOMERS = ['cus_a', 'cus_b'];
export const REGIONS = ['eu', 'us', 'ap'];
const CREATED_MS = Date.UTC(2026, 10, 27);

/** Often on the very bound of an hour, and often in one of a few. */
export function timeIn({ below, chance }: Random): number {
  const at = FIRST_MS + (chance(0.4) ? below(4) * 20 * HOUR_MS + below(HOUR_MS) : below(LENGTH_MS));
  const bound = Math.floor(at / HOUR_MS) * HOUR_MS;
  return chance(0.3) ? bound - (chance(0.5) ? 1 : 0) : at;
}

type State = 'open' | 'visible' | 'reverted';

export function makeHistory(environment: string, random: Random): History {
  const { below, chance, pick } = random;
  const history: History = { environment, events: [], voids: [], snapshots: [] };
  const states = new Map<number, State>();
  /** The change by which an event is voided: of these one at most. */
  const ledger = new Map<UsedEvent, number>();
  const isVisible = (change: number) => change === 0 || states.get(change) === 'visible';
  const make = (change: number, like: Partial<UsedEvent> = {}) => {
    const event = { ...randomEvent(environment, history.events.length, random), ...like, change };
    history.events.push(event);
  };
  const take = (event: UsedEvent | undefined, change: number) => {
    if (!event) return;
    ledger.set(event, change);
    history.voids.push({ event, change });
  };
  const takeable = () => history.events.filter((one) => isVisible(one.change) && !ledger.has(one));

  const kinds = [
    (change: number) => take(somewhere(takeable(), random), change),
    (change: number) => {
      const event = somewhere(takeable(), random);
      take(event, change);
      const { id: _, ...like } = event ?? { id: '' };
      make(change, chance(0.5) ? { ...like, units: randomUnits(random) } : {});
    },
    (change: number) => {
      const [customerId, from] = [pick(CUSTOMERS), timeIn(random)];
      for (const one of takeable()) {
        if (one.customerId === customerId && one.occurredAtMs >= from) take(one, change);
      }
    },
    (change: number) => {
      const meters = AGGREGATIONS.filter(() => chance(0.6));
      if (chance(0.6)) for (const one of takeable()) if (meters.includes(one.meterKey)) take(one, change);
      for (let left = below(12); left > 0; left--) make(change);
    },
  ];

  for (let left = 8 + below(24); left > 0; left--) make(0);
  for (let step = below(9); step > 0; step--) {
    const [change, state] = pick([...states, [0, 'reverted'] as const]);
    if (change === 0 || chance(0.4)) {
      const number = states.size + 1;
      pick(kinds)(number);
      states.set(number, chance(0.6) ? 'visible' : 'open');
    } else if (state === 'open' && chance(0.6)) {
      states.set(change, 'visible');
    } else if (state !== 'reverted') {
      states.set(change, 'reverted');
      for (const [event, by] of ledger) if (by === change) ledger.delete(event);
    }
    if (chance(0.3)) history.snapshots.push(snapshotOf(history, states));
  }
  history.snapshots.push(snapshotOf(history, states));
  return history;
}

function somewhere<T>(list: readonly T[], { below }: Random): T | undefined {
  return list[below(list.length)];
}

function snapshotOf({ events, voids }: History, states: ReadonlyMap<number, State>): Snapshot {
  const isVisible = (change: number) => change === 0 || states.get(change) === 'visible';
  const taken = new Set(voids.filter(({ change }) => isVisible(change)).map(({ event }) => event));
  const shown = events.filter(({ change }) => isVisible(change));
  return {
    view: {
      hidden: [...states.keys()].filter((change) => !isVisible(change)),
      upTo: states.size,
      hasVoids: voids.length > 0,
    },
    standing: shown.filter((one) => !taken.has(one)),
    voided: shown.filter((one) => taken.has(one)),
  };
}

function randomEvent(environment: string, at: number, random: Random): UsedEvent {
  const { below, chance, pick } = random;
  const text = Buffer.from(`${environment} ${at}`.padEnd(16, '-'));
  return {
    id: `use_${base32(text.subarray(-16))}`,
    customerId: pick(CUSTOMERS),
    meterKey: pick(AGGREGATIONS),
    units: randomUnits(random),
    occurredAtMs: timeIn(random),
    createdAtMs: CREATED_MS + below(3),
    arrival: below(1000),
    region: chance(0.7) ? pick(REGIONS) : undefined,
    change: 0,
  };
}

function randomUnits({ below, pick }: Random): bigint {
  return pick([1n, 1n, 1n, -1n]) * BigInt(below(50)) * pick([10n ** 12n, 999_983n]);
}

function lineOf(environment: string, event: UsedEvent): string {
  const { meterKey, units, region, arrival, ...rest } = event;
  const counted = { latest: arrivalText(arrival), unique: region === undefined ? '' : `=${region}` };
  const properties: Record<string, string> = region === undefined ? {} : { region };
  const uniqueValue = counted[meterKey as keyof typeof counted] ?? '';
  return eventLine({ environment, meterKey, value: unitsAsText(units), uniqueValue, properties, ...rest });
}

/** All of them, as the load inserts it: a block for each change, kind and change of voided events. */
export async function storeHistories(warehouse: Warehouse, histories: readonly History[]): Promise<void> {
  const rows = histories.flatMap(({ environment, events, voids }) => [
    ...events.map((event) => ({ name: `${event.change} events 0`, line: lineOf(environment, event) })),
    ...voids.map(({ event, change }) => ({
      name: `${change} voids ${event.change}`,
      line: lineOf(environment, { ...event, createdAtMs: CREATED_MS + 10 }),
    })),
  ]);
  const first = histories[0]?.environment ?? '';
  for (const [name, own] of groupedBy(rows, (row) => row.name)) {
    const [number, kind, of] = name.split(' ');
    const change = { number: Number(number), voids: kind === 'voids', of: Number(of) };
    const lines = Buffer.from(own.map(({ line }) => line).join(''));
    const block = { token: `${first} ${name}`, lines, timeoutMs: 60_000 };
    await warehouse.insertEvents(change.number === 0 ? block : { ...block, change });
  }
}
