import { inlineParameters } from '../inline-parameters.ts';
import type { Transport } from '../transport.ts';
import { type PropertyMonth, type PropertyUse, propertyMonthText } from './property-rows.ts';

/**
 * Closes properties whose rows would be too many, by month: those with very many values, and those of which
 * nearly every event has a row of its own. What is closed is recorded before rows are left out, and reads
 * take the events from then on: no response ever lacks what was not written.
 */
export interface PropertyGuard {
  /** Names of {@link propertyMonthText}. */
  closed(): Promise<ReadonlySet<string>>;
  /** Looks at what a block has, before it is inserted. True when more is closed now. */
  judge(uses: Iterable<PropertyUse>): Promise<boolean>;
}

export interface PropertyLimits {
  /** Values of a property in a month. */
  valuesMax: number;
  /** Properties of a meter in a month. */
  propertiesMax: number;
  /** Events that a property must have in past hours before its rows are compared with them. */
  sparseEventsMin: number;
}

const LIMITS: PropertyLimits = { valuesMax: 10_000, propertiesMax: 200, sparseEventsMin: 10_000 };
/** By which a property may pass its limit, so that one that is near it is not counted with every block. */
const SLACK = 0.1;
/** Properties that are watched at once, 100 bytes each; beyond them the oldest begin again. */
const WATCHED_MAX = 50_000;
/** Whose stored rows are counted for one block: others wait for the next one. */
const COUNTED_MAX = 20;
const TIMEOUT_MS = 10_000;

/** What came of a property since its rows were counted. */
interface Watched {
  /** That were there at the last count; before the first one as many as leave only the slack. */
  valuesBefore: number;
  values: number;
  events: number;
  rows: number;
  sparseAt: number;
}

export function createPropertyGuard(
  transport: Pick<Transport, 'rows' | 'command'>,
  limits: PropertyLimits = LIMITS,
): PropertyGuard {
  const known = createKnownClosed(transport);
  const watch = createWatch(limits);

  async function isTooMuch(use: PropertyUse): Promise<boolean> {
    const stored = await countStored(transport, use);
    watch.counted(use, stored);
    if (stored.values > valuesMax(use, limits)) return true;
    return stored.events >= limits.sparseEventsMin && isSparse(stored);
  }

  return {
    closed: known.all,
    async judge(uses) {
      const closed = await known.all();
      const found: PropertyMonth[] = [];
      let counted = 0;
      for (const use of uses) {
        if (closed.has(propertyMonthText(use))) continue;
        if (closed.has(propertyMonthText({ ...use, property: '' }))) continue;
        if (!watch.isSuspect(use)) continue;
        // Never left for later: of a meter with very many properties not all have their rows.
        // mutant: guard-that-closes-twenty
        if (use.values.size > valuesMax(use, limits)) found.push(use);
        else if (counted < COUNTED_MAX) {
          counted += 1;
          if (await isTooMuch(use)) found.push(use);
        }
      }
      if (found.length === 0) return false;
      // mutant: guard-that-truncates
      await recordClosed(transport, found);
      known.add(found);
      return true;
    },
  };
}

function valuesMax({ property }: PropertyMonth, limits: PropertyLimits): number {
  return property === '' ? limits.propertiesMax : limits.valuesMax;
}

/** What is recorded as closed: what other processes close meanwhile, reads find for themselves. */
function createKnownClosed(transport: Pick<Transport, 'rows'>) {
  const closed = new Set<string>();
  let isRead = false;
  const add = (found: readonly PropertyMonth[]) => {
    for (const one of found) closed.add(propertyMonthText(one));
  };
  return {
    add,
    async all(): Promise<ReadonlySet<string>> {
      if (isRead) return closed;
      const rows = await transport.rows<PropertyMonth>({
        sql: `SELECT environment, meter_key AS meterKey, property, toString(month) AS month
              FROM metergate.closed_properties`,
        connection: 'load',
        timeoutMs: TIMEOUT_MS,
      });
      add(rows);
      isRead = true;
      return closed;
    },
  };
}

/** Says of which property the stored rows are to be counted. */
function createWatch(limits: PropertyLimits) {
  const watched = new Map<string, Watched>();

  function seenOf(use: PropertyUse): Watched {
    const name = propertyMonthText(use);
    const known = watched.get(name);
    if (known) return known;
    const [oldest] = watched.keys();
    if (watched.size >= WATCHED_MAX && oldest !== undefined) watched.delete(oldest);
    const none = { values: 0, events: 0, rows: 0 };
    const valuesBefore = valuesMax(use, limits) * (1 - SLACK);
    const fresh = { valuesBefore, ...none, sparseAt: limits.sparseEventsMin };
    watched.set(name, fresh);
    return fresh;
  }

  return {
    /** What came since the last count could have passed a limit. */
    isSuspect(use: PropertyUse): boolean {
      const seen = seenOf(use);
      seen.values += use.values.size;
      seen.events += use.events;
      seen.rows += use.rows;
      const most = valuesMax(use, limits);
      const mayBeMany = seen.valuesBefore + seen.values > most && seen.values > most * SLACK;
      return mayBeMany || (seen.events >= seen.sparseAt && isSparse(seen));
    },
    counted(use: PropertyUse, stored: { values: number; events: number }): void {
      const seen = seenOf(use);
      Object.assign(seen, { valuesBefore: stored.values, values: 0, events: 0, rows: 0 });
      seen.sparseAt = Math.max(seen.sparseAt, stored.events);
    },
  };
}

function isSparse({ rows, events }: { rows: number; events: number }): boolean {
  return rows * 2 > events;
}

/** Of hours that are over: at the beginning of an hour every event has a row of its own. */
async function countStored(
  transport: Pick<Transport, 'rows'>,
  { environment, meterKey, property, month }: PropertyMonth,
): Promise<{ values: number; rows: number; events: number }> {
  const isOver = 'hour < now() - INTERVAL 1 HOUR';
  const isOf = `property = {property:String} AND ${isOver}`;
  const [row] = await transport.rows<Record<'values' | 'rows' | 'events', string>>({
    sql: `SELECT toString(if({property:String} = '', uniqExact(property), uniqExact(value))) AS values,
                 toString(uniqExactIf((customer_id, hour, value), ${isOf})) AS rows,
                 toString(sumIf(events, ${isOf})) AS events
          FROM metergate.usage_by_property
          WHERE environment = {environment:String} AND meter_key = {meter:String}
            AND ({property:String} = '' OR property = {property:String})
            AND toYYYYMM(hour) = toYYYYMM({month:Date})`,
    params: { environment, meter: meterKey, property, month },
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  return { values: Number(row?.values), rows: Number(row?.rows), events: Number(row?.events) };
}

/** Durable when it returns. */
async function recordClosed(
  transport: Pick<Transport, 'command'>,
  found: readonly PropertyMonth[],
): Promise<void> {
  const sql = `INSERT INTO metergate.closed_properties (environment, meter_key, property, month)
          SETTINGS insert_deduplicate = 0
          SELECT one.1, one.2, one.3, toDate(one.4) FROM (SELECT arrayJoin(arrayZip(
            {environments:Array(String)}, {meters:Array(String)}, {properties:Array(String)},
            {months:Array(String)})) AS one)`;
  const params = {
    environments: found.map(({ environment }) => environment),
    meters: found.map(({ meterKey }) => meterKey),
    properties: found.map(({ property }) => property),
    months: found.map(({ month }) => month),
  };
  await transport.command(inlineParameters(sql, params));
}
