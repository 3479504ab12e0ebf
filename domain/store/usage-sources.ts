import { BY_PROPERTY_COLUMNS } from '../../schemas/stored/usage-by-property.ts';
import { HOURLY_COLUMNS } from '../../schemas/stored/usage-hourly.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { UsageView } from './usage-views.ts';

/**
 * What statements on usage read of, for one view: each is what follows FROM, with the condition that it is
 * given. A condition follows the name of a table, begins with WHERE or PREWHERE, and more may be added to
 * it with AND. Without changes each is the table with its condition: the statement that it always was.
 */
export interface UsageSources {
  /** Nothing was ever changed. */
  isPlain: boolean;
  /** Rows as of `usage_hourly`. */
  hours(where: string, options?: HoursOptions): string;
  /** Rows as of `usage_by_property`. `alias`: by which the condition names the table. */
  byProperty(where: string, alias?: string): string;
  /** Rows of `events`, each once. */
  events(where: string): string;
  /**
   * The events of hours with voided ones, with their `hour`: what came last, was the largest or is counted
   * once cannot be taken out of the states of an hour. The condition is that of the hours.
   */
  restated(where: string): string;
  /**
   * Events with those that are voided, for a list in this order, which ends in a limit and follows it once
   * more. Unless it is plain, with `change`, that of the event, and `isVoided`.
   */
  listed(where: string, order: string, options: { isFinal: boolean }): string;
  /** Of an aggregation: whether hours with voided events are read of their events. */
  restates(aggregation: Aggregation): boolean;
  /** Behind GROUP BY: leaves out groups of which all is voided; `events`: how many a group has. */
  notVoided(events: string): string;
}

export interface HoursOptions {
  /** By which the condition names the table. */
  alias?: string;
  /** Without the hours of {@link UsageSources.restated}. */
  restates?: boolean;
}

const EVENT_COLUMNS = `environment, customer_id, meter_key, id, value, unique_value, properties, occurred_at,
           created_at`;
const HOUR = 'toStartOfHour(occurred_at) AS hour';
const PLACE = 'environment, customer_id, meter_key, hour';

export function usageSources(view: UsageView): UsageSources {
  return view.upTo === 0 ? PLAIN : sourcesOf(view);
}

const PLAIN: UsageSources = {
  isPlain: true,
  hours: (where, { alias } = {}) => `metergate.usage_hourly${named(alias)}${where}`,
  byProperty: (where, alias) => `metergate.usage_by_property${named(alias)}${where}`,
  events: (where) => `metergate.events FINAL${where}`,
  restated: (where) => `metergate.events FINAL${where}`,
  listed: (where, _order, { isFinal }) => `metergate.events${isFinal ? ' FINAL' : ''}${where}`,
  restates: () => false,
  notVoided: () => '',
};

function sourcesOf(view: UsageView): UsageSources {
  const voided = voidedOf(view);
  return {
    isPlain: false,
    hours(where, { alias, restates = false } = {}) {
      const condition = `${named(alias)}${where}`;
      // mutant: voided-hours-of-the-rollup
      const others = restates ? ` AND (${PLACE}) NOT IN (${voided.hours(where)})` : '';
      return `(
    SELECT ${HOURLY_COLUMNS} FROM metergate.usage_hourly${condition}${others}
    UNION ALL
    SELECT ${HOURLY_COLUMNS} FROM metergate.change_hourly${condition} AND ${rollupCounts(view)}${others}
  )${named(alias)}`;
    },
    byProperty(where, alias) {
      const condition = `${named(alias)}${where}`;
      return `(
    SELECT ${BY_PROPERTY_COLUMNS} FROM metergate.usage_by_property${condition}
    UNION ALL
    SELECT ${BY_PROPERTY_COLUMNS} FROM metergate.change_by_property${condition} AND ${rollupCounts(view)}
  )${named(alias)}`;
    },
    events: (where) => eventsOf(view, { where, columns: EVENT_COLUMNS, voided: voided.events(where) }),
    restated: (where) => {
      const inHours = `${where} AND (${PLACE}) IN (${voided.hours(where)})`;
      const columns = `${EVENT_COLUMNS}, ${HOUR}`;
      return eventsOf(view, { where: inHours, columns, voided: voided.events(where, `WITH ${HOUR} `) });
    },
    listed: (where, order, { isFinal }) => {
      const voids = voided.events(where);
      const part = (table: string, change: string, counts: string) => `
    SELECT ${EVENT_COLUMNS}, ${change} AS change, ${voids ? `(id, change) IN (${voids})` : '0'} AS isVoided
      FROM metergate.${table}${isFinal ? ' FINAL' : ''}${where}${counts}${order}`;
      return `(${part('events', 'toUInt64(0)', '')}
    UNION ALL${part('change_events', 'change', ` AND ${eventCounts(view)}`)})`;
    },
    restates: (aggregation) => view.hasVoids && aggregation !== 'sum' && aggregation !== 'count',
    notVoided: (events) => (view.hasVoids ? `\n  HAVING ${events} != 0` : ''),
  };
}

interface EventsOf {
  where: string;
  columns: string;
  /** A query of pairs (id, change). */
  voided: string | undefined;
}

function eventsOf(view: UsageView, { where, columns, voided }: EventsOf): string {
  const stands = (change: string) => (voided ? ` AND (id, ${change}) NOT IN (${voided})` : '');
  const ofChanges = `${where} AND ${eventCounts(view)}${stands('change')}`;
  return `(
    SELECT ${columns} FROM metergate.events FINAL${where}${stands('toUInt64(0)')}
    UNION ALL
    SELECT ${columns} FROM metergate.change_events FINAL${ofChanges})`;
}

/** Queries of what the view takes away. */
function voidedOf(view: UsageView) {
  return {
    hours: (where: string) =>
      `SELECT environment, customer_id, meter_key, ${HOUR}
           FROM metergate.voided_events${where} AND ${rollupCounts(view)}`,
    events: (where: string, names = '') =>
      view.hasVoids
        ? `${names}SELECT id, of_change FROM metergate.voided_events${where} AND ${rollupCounts(view)}`
        : undefined,
  };
}

function named(alias: string | undefined): string {
  return alias === undefined ? '' : ` AS ${alias}`;
}

/** Of rows of `change_events`. */
function eventCounts({ upTo, hidden }: UsageView): string {
  // mutant: hidden-change-counted
  return `change <= ${numberText(upTo)}${notIn('change', hidden)}`;
}

/**
 * Of rows with both numbers. A void of an event counts while the event does: a backfill may be reverted whose
 * events were voided by other changes.
 */
function rollupCounts(view: UsageView): string {
  // mutant: void-outlives-its-event
  return `${eventCounts(view)}${notIn('of_change', view.hidden)}`;
}

function notIn(column: string, hidden: readonly number[]): string {
  return hidden.length === 0 ? '' : ` AND ${column} NOT IN (${hidden.map(numberText).join(', ')})`;
}

/** They come from Postgres; a text would become part of the statement. */
function numberText(number: number): string {
  if (!Number.isSafeInteger(number)) throw new TypeError('a change of usage has a number');
  return String(number);
}
