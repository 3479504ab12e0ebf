import { crc32 } from 'node:zlib';
import { type Aggregation, ORDERED_AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { markedNumber, plainText, units } from './exact.ts';
import type { Random } from './random.ts';
import type { CustomerPlan, World } from './world.ts';

/** What an accepted item means. Two items with the same key and meaning are one event. */
export interface MeantEvent {
  key: string;
  /** Positions in the world's lists. */
  customer: number;
  meter: number;
  value: bigint;
  /** Undefined: the time of storing, which only the response shows. */
  occurredAtMs: number | undefined;
  /** Sorted by name. */
  properties: MeantProperty[];
}

export interface MeantProperty {
  name: string;
  /** As sent. */
  json: string;
  /** As breakdowns group it. */
  label: string;
  /** As `parseExact` reads it in the stored event. */
  shown: string | boolean;
}

/** One item of a request. Exactly one of `event` and `rejection` is there. */
export interface PlannedItem {
  /** The item's own text: numbers are written as a client would, not as a double prints. */
  json: string;
  /** What the result must echo; '' when the item has no usable key. */
  echoedKey: string;
  event?: MeantEvent;
  /** The expected error code. */
  rejection?: string;
}

export interface EventScope {
  world: World;
  random: Random;
  nowMs: number;
  /** False: no event may need its response to be understood (no default times, no `latest` meter). */
  responsesShowEvents: boolean;
  /**
   * True: a `latest` event may leave its time to the product. Of two requests in one millisecond no client
   * can tell which came first, so it names its time unless the story was written before.
   */
  latestWithoutTimes?: true;
}

const DAY_MS = 86_400_000;
const SPAN_DAYS = 40;

/** A new event under this key. */
export function meanEvent(key: string, scope: EventScope): MeantEvent {
  const { random, world } = scope;
  const customer = pickCustomer(scope);
  const meter = pickMeter(scope);
  const aggregation = world.meters[meter]?.aggregation;
  const sign = aggregation === 'sum' ? undefined : world.customers[customer]?.sign;
  const isTimed = !(scope.responsesShowEvents && random.chance(0.08));
  const mayLackTime = !isOrdered(aggregation) || scope.latestWithoutTimes;
  const untimed = mayLackTime ? undefined : scope.nowMs - (crc32(key) % DAY_MS);
  return {
    key,
    customer,
    meter,
    value: ofSign(units(valueText(random)), sign),
    occurredAtMs: isTimed ? occurredAt(scope) : untimed,
    properties: properties(random, aggregation === 'unique' ? 400 : 12),
  };
}

/** The item's text: a customer by either of its names, a meter by key or id, any order of members. */
export function itemOf(event: MeantEvent, scope: EventScope): PlannedItem {
  const { random } = scope;
  const members = [...bodyMembers(event, scope), member('idempotencyKey', event.key)];
  if (random.chance(0.3)) members.reverse();
  return { json: `{${members.join(',')}}`, echoedKey: event.key, event };
}

/** The members that the single endpoint takes; there the key is a header. */
export function bodyMembers(event: MeantEvent, { random, world }: EventScope): string[] {
  const customer = world.customers[event.customer];
  const meter = world.meters[event.meter];
  if (!customer || !meter) throw new Error('an event outside its world');
  const named = customer.externalId !== undefined && random.chance(0.5) ? customer.externalId : customer.id;
  const metered = meter.id !== '' && random.chance(0.2) ? meter.id : meter.key;
  const members = [member('customerId', named), member('meterId', metered)];
  members.push(`"value":${valueSpelling(event.value, random)}`);
  if (event.occurredAtMs !== undefined)
    members.push(member('occurredAt', timeText(event.occurredAtMs, random)));
  if (event.properties.length > 0 || random.chance(0.2)) {
    const ordered = random.chance(0.5) ? event.properties : [...event.properties].reverse();
    members.push(`"properties":{${ordered.map(({ name, json }) => `"${name}":${json}`).join(',')}}`);
  }
  return members;
}

function member(name: string, text: string): string {
  return `"${name}":${JSON.stringify(text)}`;
}

function pickCustomer({ random, world }: EventScope): number {
  const total = world.customers.reduce((sum, customer) => sum + customer.weight, 0);
  let left = random.below(total);
  return world.customers.findIndex((customer) => {
    left -= customer.weight;
    return left < 0;
  });
}

function pickMeter({ random, world, responsesShowEvents }: EventScope): number {
  // Two `latest` events at the same instant are ordered by createdAt first, so their responses must show it.
  const usable = world.meters
    .map((_, at) => at)
    .filter((at) => {
      return responsesShowEvents || !isOrdered(world.meters[at]?.aggregation);
    });
  return random.pick(usable);
}

/** Mostly small counts; fractions to twelve digits, negative corrections, and numbers no double can hold. */
function valueText(random: Random): string {
  const kind = random.below(20);
  if (kind < 9) return String(random.below(1000));
  if (kind < 12) return `-${random.below(50)}`;
  if (kind < 15) return `${random.below(100)}.${String(random.below(1e6)).padStart(6, '0')}`;
  if (kind < 18) return `${random.below(10)}.${String(random.below(1e12)).padStart(12, '0')}`;
  return random.pick([
    '0',
    '-0',
    '123456789.000000000001',
    '999999999999999',
    '0.1',
    '-0.000000000001',
    '2.50',
  ]);
}

function isOrdered(aggregation: Aggregation | undefined): boolean {
  return aggregation !== undefined && ORDERED_AGGREGATIONS.has(aggregation);
}

/** Never 0 where it has a sign. */
function ofSign(value: bigint, sign: CustomerPlan['sign']): bigint {
  if (sign === 'negative' && value >= 0n) return -value - 1n;
  return sign === 'positive' && value <= 0n ? 1n - value : value;
}

function valueSpelling(value: bigint, random: Random): string {
  const text = plainText(value);
  if (random.chance(0.95)) return text;
  return random.chance(0.5) ? `${text}e0` : text.includes('.') ? `${text}0` : `${text}.0`;
}

/** Out of order over forty days; every tenth exactly on, or one millisecond before, an hour, day or month. */
function occurredAt({ random, nowMs }: EventScope): number {
  const kind = random.below(50);
  if (kind === 0) return nowMs + random.below(60_000);
  if (kind < 12) return nowMs - random.below(DAY_MS / 12);
  const time = nowMs - random.below(SPAN_DAYS * DAY_MS);
  if (kind > 16) return time;
  const edge = new Date(time);
  edge.setUTCMinutes(0, 0, 0);
  if (kind > 13) edge.setUTCHours(0);
  if (kind > 14) edge.setUTCDate(1);
  const within = edge.getTime() >= nowMs - SPAN_DAYS * DAY_MS;
  return (within ? edge.getTime() : nowMs) - (random.chance(0.5) ? 1 : 0);
}

function timeText(ms: number, random: Random): string {
  const plain = new Date(ms).toISOString();
  const kind = random.below(10);
  if (kind === 0) return `${new Date(ms + 2 * 3_600_000).toISOString().slice(0, -1)}+02:00`;
  if (kind === 1) return `${new Date(ms - 330 * 60_000).toISOString().slice(0, -1)}-05:30`;
  if (kind === 2) return plain.replace('Z', '999Z');
  return kind === 3 && plain.endsWith('.000Z') ? plain.replace('.000Z', 'Z') : plain;
}

const ODD_USERS = [
  'Zoë',
  'a "quoted" name',
  'back\\slash',
  '🙂 smile',
  ' space ',
  'tab\tline\n',
  "o'hara",
  '-1',
];
const SIZES: ReadonlyArray<[sent: string, shown: string]> = [
  ['1', '1'],
  ['2.5', '2.5'],
  ['1.50', '1.5'],
  ['1e2', '100'],
  ['-3', '-3'],
  ['0.000000000001', '0.000000000001'],
  ['123456789.000000000001', '123456789.000000000001'],
];

function properties(random: Random, users: number): MeantProperty[] {
  const found: MeantProperty[] = [];
  if (random.chance(0.15)) return found;
  if (random.chance(0.8)) found.push({ name: 'cached', ...booleanValue(random) });
  if (random.chance(0.8)) found.push({ name: 'size', ...sizeValue(random) });
  if (random.chance(0.9)) found.push({ name: 'user', ...userValue(random, users) });
  return found;
}

type MeantValue = Omit<MeantProperty, 'name'>;

function booleanValue(random: Random): MeantValue {
  const shown = random.chance(0.5);
  return { json: String(shown), label: String(shown), shown };
}

/** A number, or now and then the same word as text: another value, but one group. */
function sizeValue(random: Random): MeantValue {
  const [json, label] = random.pick(SIZES);
  if (random.chance(0.1)) return { json: `"${label}"`, label, shown: label };
  return { json, label, shown: markedNumber(label) };
}

function userValue(random: Random, users: number): MeantValue {
  const label = random.chance(0.1) ? random.pick(ODD_USERS) : `user-${random.below(users)}`;
  return { json: JSON.stringify(label), label, shown: label };
}
