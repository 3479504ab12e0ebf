import type { Logger } from 'pino';
import { inlineParameters } from '../inline-parameters.ts';
import type { Transport } from '../transport.ts';
import { createClosedRows } from './closed-rows.ts';
import { type PropertyMonth, type PropertyUse, propertyMonthText } from './property-rows.ts';
import { LISTED, listParams, type StoredUse, storedUses } from './stored-uses.ts';

/**
 * Closes properties whose rows would be too many, by month: those with very many values, and those whose rows
 * hardly sum up any events. What is closed is recorded before rows are left out, and reads take the events
 * from then on: no response ever lacks what was not written. Rows that are there already are removed.
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
  /**
   * Events that a property must have in past hours before its rows are compared with them: fewer do where
   * they lie in so many hours, since usage of a night is less dense than that of a day.
   */
  sparse: { eventsMin: number; hoursMin: number; eventsOfAnyHours: number };
}

const LIMITS: PropertyLimits = {
  valuesMax: 10_000,
  propertiesMax: 200,
  sparse: { eventsMin: 1_000, hoursMin: 24, eventsOfAnyHours: 10_000 },
};
/**
 * Events that a row has to sum up, on average. A row takes some 22 bytes and an event 50: with fewer events
 * the rows of three properties take more than a third of what the events do.
 */
const EVENTS_A_ROW = 4;
/** By which a property may pass its limit, so that one that is near it is not counted with every block. */
const SLACK = 0.1;
/** Properties that are watched at once, 100 bytes each; beyond them the oldest begin again. */
const WATCHED_MAX = 50_000;
/** Whose stored rows are counted for one block, in one statement: others wait for the next one. */
const COUNTED_MAX = 100;
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

export interface GuardOptions {
  limits?: PropertyLimits;
  log?: Pick<Logger, 'warn'> | undefined;
}

export function createPropertyGuard(
  transport: Pick<Transport, 'rows' | 'command'>,
  { limits = LIMITS, log }: GuardOptions = {},
): PropertyGuard {
  const known = createKnownClosed(transport);
  const watch = createWatch(limits);
  const rows = createClosedRows(transport, log);

  function isTooMuch(use: PropertyUse, stored: StoredUse): boolean {
    return stored.values > valuesMax(use, limits) || isSparse(stored, limits.sparse);
  }

  /** Those of a block that may have passed a limit, meters first: with a meter all its properties close. */
  async function suspects(uses: Iterable<PropertyUse>): Promise<PropertyUse[]> {
    const closed = await known.all();
    const open = [...uses].filter(
      (use) =>
        !closed.has(propertyMonthText(use)) && !closed.has(propertyMonthText({ ...use, property: '' })),
    );
    const found = open.filter((use) => watch.isSuspect(use));
    return found.sort((a, b) => Number(a.property !== '') - Number(b.property !== ''));
  }

  return {
    closed: known.all,
    async judge(uses) {
      const found = await suspects(uses);
      // Never left for later: of a meter with very many properties not all have their rows.
      const isOverNow = (use: PropertyUse) => use.values.size > valuesMax(use, limits);
      // mutant: guard-that-closes-twenty
      const tooMany = found.filter(isOverNow);
      const counted = found.filter((use) => !isOverNow(use)).slice(0, COUNTED_MAX);
      if (counted.length > 0) {
        const storedOf = await storedUses(transport, counted);
        for (const use of counted) {
          watch.counted(use, storedOf(use));
          if (isTooMuch(use, storedOf(use))) tooMany.push(use);
        }
      }
      if (tooMany.length > 0) {
        // mutant: guard-that-truncates
        await recordClosed(transport, tooMany);
        known.add(tooMany);
        rows.add(tooMany);
      }
      await rows.remove();
      return tooMany.length > 0;
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
    const fresh = { valuesBefore, ...none, sparseAt: limits.sparse.eventsMin };
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
      return mayBeMany || (seen.events >= seen.sparseAt && isMostlyRows(seen));
    },
    counted(use: PropertyUse, stored: StoredUse): void {
      const seen = seenOf(use);
      Object.assign(seen, { valuesBefore: stored.values, values: 0, events: 0, rows: 0 });
      seen.sparseAt = Math.max(seen.sparseAt, stored.events);
    },
  };
}

function isMostlyRows({ rows, events }: { rows: number; events: number }): boolean {
  return rows * EVENTS_A_ROW > events;
}

function isSparse({ past }: StoredUse, { eventsMin, hoursMin, eventsOfAnyHours }: PropertyLimits['sparse']) {
  const areEnough = past.events >= (past.hours >= hoursMin ? eventsMin : eventsOfAnyHours);
  return areEnough && isMostlyRows(past);
}

/** Durable when it returns. */
async function recordClosed(
  transport: Pick<Transport, 'command'>,
  found: readonly PropertyMonth[],
): Promise<void> {
  const sql = `INSERT INTO metergate.closed_properties (environment, meter_key, property, month)
          SETTINGS insert_deduplicate = 0 ${LISTED}`;
  await transport.command(inlineParameters(sql, listParams(found)));
}
