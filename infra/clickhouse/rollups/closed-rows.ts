import type { Logger } from 'pino';
import { inlineParameters } from '../inline-parameters.ts';
import type { Transport } from '../transport.ts';
import type { PropertyMonth } from './property-rows.ts';
import { listParams } from './stored-uses.ts';

/**
 * Removes what was stored of properties before they were closed: nothing reads it any more. What fails, or is
 * cut off by the end of the process, is tried again later, and by the next process.
 */
export interface ClosedRows {
  add(closed: readonly PropertyMonth[]): void;
  /** Requests it for some months; ClickHouse removes the rows in the background. */
  remove(): Promise<void>;
}

/** Each is a statement of its own, which the load waits for until it is recorded. */
const MONTHS_AT_ONCE = 4;
const AGAIN_MS = 60_000;
const TIMEOUT_MS = 10_000;

export function createClosedRows(
  transport: Pick<Transport, 'rows' | 'command'>,
  log?: Pick<Logger, 'warn'>,
): ClosedRows {
  const waiting = new Map<string, PropertyMonth[]>();
  let isLookedFor = false;
  let notBefore = 0;

  const add = (closed: readonly PropertyMonth[]) => {
    for (const one of closed) waiting.set(one.month, [...(waiting.get(one.month) ?? []), one]);
  };

  async function removeSome(): Promise<void> {
    if (!isLookedFor) add(await leftBefore(transport));
    isLookedFor = true;
    for (const [month, closed] of [...waiting].slice(0, MONTHS_AT_ONCE)) {
      await transport.command(removalOf(month, closed));
      waiting.delete(month);
    }
  }

  return {
    add,
    async remove() {
      if ((isLookedFor && waiting.size === 0) || performance.now() < notBefore) return;
      // Bytes are at stake and no sum: the load goes on without it.
      await removeSome().catch((err: unknown) => {
        notBefore = performance.now() + AGAIN_MS;
        const facts = { err, code: 'closed_rows_not_removed', months: [...waiting.keys()] };
        log?.warn(
          facts,
          'rows of closed properties take disk until their removal succeeds: again in a minute',
        );
      });
    },
  };
}

/** Of a process that ended before it removed them, or of another one that did not know yet. */
function leftBefore(transport: Pick<Transport, 'rows'>): Promise<PropertyMonth[]> {
  const ofOne = (property: string) => `SELECT DISTINCT environment, meter_key AS meterKey, ${property},
            toString(toStartOfMonth(hour)) AS month
          FROM metergate.usage_by_property`;
  const closed = (where: string) =>
    `(SELECT environment, meter_key, property, month FROM metergate.closed_properties WHERE ${where})`;
  return transport.rows<PropertyMonth>({
    sql: `${ofOne('property')} WHERE (environment, meter_key, property, toStartOfMonth(hour)) IN
            ${closed("property != ''")}
          UNION ALL
          ${ofOne("'' AS property")} WHERE (environment, meter_key, '', toStartOfMonth(hour)) IN
            ${closed("property = ''")}`,
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
}

/**
 * With its partition it is no rewrite of hours, which a new owner of the load waits for
 * (aggregator/store/running-inserts.ts). Values and no query: copies on several servers read the same.
 */
function removalOf(month: string, closed: readonly PropertyMonth[]): string {
  const meters = closed.filter(({ property }) => property === '');
  const properties = closed.filter(({ property }) => property !== '');
  const ofMeters = inlineParameters('arrayZip({environments:Array(String)}, {meters:Array(String)})', {
    ...listParams(meters),
  });
  const ofProperties = inlineParameters(
    'arrayZip({environments:Array(String)}, {meters:Array(String)}, {properties:Array(String)})',
    listParams(properties),
  );
  const isClosed = [
    ...(meters.length > 0 ? [`(environment, meter_key) IN (${ofMeters})`] : []),
    ...(properties.length > 0 ? [`(environment, meter_key, property) IN (${ofProperties})`] : []),
  ];
  const partition = month.slice(0, 7).replace('-', '');
  return `ALTER TABLE metergate.usage_by_property DELETE IN PARTITION ${partition}
    WHERE ${isClosed.join(' OR ')}`;
}
