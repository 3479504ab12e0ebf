import type { Span } from '../../schemas/primitives/calendar.ts';

/** From then on local time is so much ahead of UTC. */
export interface ZoneOffset {
  fromMs: number;
  offsetMs: number;
}

/** Two changes within a step would be missed. The closest since 1970 are an hour less than a week apart. */
const STEP_MS = 3 * 86_400_000;
/** What is read at once and kept: about ten years, in 10 ms. */
const BLOCK_MS = 1_200 * STEP_MS;
/** Of letters: `Intl` also takes offsets, which name no rules of daylight saving time. */
const NAME = /^[A-Za-z][\w+/-]*$/;

/** There are a few hundred zones, each under one name here, and 14 blocks until 2100. */
const blocks = new Map<string, readonly ZoneOffset[]>();

/**
 * The offsets of an IANA time zone in a span, in their order, the first from before it; undefined if there
 * is no such zone. The rules are those of Node.js alone: ClickHouse has a copy of its own, and gets these
 * offsets instead.
 */
export function zoneOffsets(name: string, { fromMs, toMs }: Span): readonly ZoneOffset[] | undefined {
  const format = NAME.test(name) ? formatOf(name) : undefined;
  if (!format) return undefined;
  const zone = format.resolvedOptions().timeZone;
  const offsets: ZoneOffset[] = [];
  for (let block = Math.floor(fromMs / BLOCK_MS); block * BLOCK_MS < toMs; block += 1) {
    const read = blocks.get(`${zone} ${block}`) ?? readBlock(format, block * BLOCK_MS);
    blocks.set(`${zone} ${block}`, read);
    for (const one of read) if (one.offsetMs !== offsets.at(-1)?.offsetMs) offsets.push(one);
  }
  return offsets;
}

/** The place of the offset in force at a time. */
export function offsetIndex(offsets: readonly ZoneOffset[], atMs: number): number {
  return Math.max(
    0,
    offsets.findLastIndex(({ fromMs }) => fromMs <= atMs),
  );
}

/** What a local clock shows at a time, as the UTC milliseconds of a clock in UTC that shows the same. */
export function localMs(offsets: readonly ZoneOffset[], atMs: number): number {
  return atMs + (offsets[offsetIndex(offsets, atMs)]?.offsetMs ?? 0);
}

const ALL_FIELDS = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const;

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...ALL_FIELDS });
  } catch {
    return undefined;
  }
}

function readBlock(format: Intl.DateTimeFormat, startMs: number): ZoneOffset[] {
  let before = offsetAt(format, startMs);
  const offsets = [{ fromMs: startMs, offsetMs: before }];
  for (let atMs = startMs; atMs < startMs + BLOCK_MS; atMs += STEP_MS) {
    const after = offsetAt(format, atMs + STEP_MS);
    if (before !== after) offsets.push({ fromMs: changeAfter(format, atMs), offsetMs: after });
    before = after;
  }
  return offsets;
}

/** The first second at which the offset is another than at `atMs`, within a step. */
function changeAfter(format: Intl.DateTimeFormat, atMs: number): number {
  const before = offsetAt(format, atMs);
  let [same, other] = [atMs / 1000, (atMs + STEP_MS) / 1000];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetAt(format, middle * 1000) === before) same = middle;
    else other = middle;
  }
  return other * 1000;
}

function offsetAt(format: Intl.DateTimeFormat, atMs: number): number {
  const of: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(atMs)) of[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = of;
  return Date.UTC(year, month - 1, day, hour, minute, second) - atMs;
}
