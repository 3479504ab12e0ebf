import { describe, expect, it, vi } from 'vitest';
import { closeUsageChange, insertUsageChange } from '../../domain/store/usage-changes.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { eventId, type LoggedEvent } from '../../tests/support/load-frames.ts';
import type { LoadStores } from '../../tests/support/load-stores.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { appendSettled, placeOf, start, WAIT } from '../aggregator-under-test.ts';
import { CUSTOMER, ENVIRONMENT, METER, openTenant } from '../settle/settlement-under-test.ts';
import { readMarks } from '../store/settlement-marks.ts';
import { readChangedUsage } from './changed-usage.ts';
import { showLoadedChanges } from './show-changes.ts';

let changes = 0;

/** Begins a change; its records come on the log. */
async function begin({ pool }: LoadStores): Promise<number> {
  changes += 1;
  const change = { environment: ENVIRONMENT, id: `cor_${changes}`, kind: 'void', hasVoids: true } as const;
  const by = { request: {}, createdBy: 'key_a', createdAt: new Date(TEST_NOW_MS) };
  return inTransaction(pool, (db) => insertUsageChange(db, { ...change, ...by }));
}

async function closeAt(stores: LoadStores, number: number, ends: number[]): Promise<void> {
  const endsAt = ends.map((end, partition) => ({ ...placeOf(stores, partition), end }));
  await closeUsageChange(stores.pool, number, { endsAt, at: new Date(TEST_NOW_MS) });
}

async function stateOf({ pool }: LoadStores, number: number): Promise<string> {
  const { rows } = await pool.query('SELECT state FROM usage_changes WHERE number = $1', [number]);
  return rows[0].state;
}

const OWN = { environment: ENVIRONMENT, customerId: CUSTOMER, meterKey: METER };

/** As the control plane will do it: its records, then the positions behind them. */
async function change(stores: LoadStores, records: (number: number) => LoggedEvent[]): Promise<number> {
  const number = await begin(stores);
  const end = await stores.append(records(number).map((event) => ({ ...OWN, ...event })));
  await closeAt(stores, number, [end]);
  await vi.waitFor(async () => expect(await stateOf(stores, number)).toBe('visible'), WAIT);
  await vi.waitFor(async () => expect(await readMarks(stores.pool, 1)).toEqual([]), WAIT);
  return number;
}

/** Usage of a backfill. */
function sent(number: number, id: string, value: string): LoggedEvent {
  return { ...OWN, id, value, change: { number, voids: false } };
}

function voidOf(number: number, event: LoggedEvent): LoggedEvent {
  return { ...event, change: { number, voids: true } };
}

describe('a change of usage', () => {
  // Red when it is shown before all is loaded: a reader counts a part of it, and then more.
  it('is visible once the load of every partition is past its records, and once', async () => {
    const { stores } = await openTenant();
    const deps = { ...stores, clock: systemClock, log: SILENT };
    const number = await begin(stores);
    await closeAt(stores, number, [10, 20]);
    const range = (partition: number, lo: number, hi: number, state: string) =>
      stores.pool.query(
        `INSERT INTO log_ranges (log_id, partition, lo, hi, epoch, state, event_count, dropped, checksum,
                                 through_ms, filled_to)
         VALUES ($1, $2, $3, $4, 1, $5, 1, '{}', 1, 1, 5)
         ON CONFLICT (log_id, partition, lo) DO UPDATE SET state = excluded.state`,
        [placeOf(stores).logId, partition, lo, hi, state],
      );
    const steps: Array<[string, () => Promise<unknown>]> = [
      ['nothing is loaded', async () => undefined],
      ['one partition is not', () => range(0, 0, 10, 'settled')],
      ['one ends before', () => range(1, 0, 19, 'loaded')],
      ['the last range is pending', () => range(1, 19, 25, 'pending')],
    ];
    for (const [why, step] of steps) {
      await step();
      expect(await showLoadedChanges(deps), why).toBe(true);
      expect(await stateOf(stores, number), why).toBe('closing');
    }
    await range(1, 19, 25, 'loaded');
    const both = await Promise.all([showLoadedChanges(deps), showLoadedChanges(deps)]);
    expect(both).toEqual([false, false]);
    expect(await stateOf(stores, number)).toBe('visible');
  });

  // Red when nothing is settled by it, when a threshold is crossed once for good, and when what it has on the
  // log is settled before it is visible.
  it('gives credits back to the last decimal, and thresholds are crossed again', async () => {
    const { stores, tenant } = await openTenant();
    await tenant.rate(1, 0, '0.000000000001');
    await tenant.budget('50', '100');
    await tenant.grant('1');
    start(stores);
    await tenant.use({ value: '40' }, { value: '70.123456789012' });
    const crossed = async () =>
      (await tenant.notified('usage.threshold'))
        .map(({ thresholdValue }) => Number(thresholdValue))
        .sort((one, other) => one - other);
    expect(await crossed()).toEqual([50, 100]);
    expect(await tenant.wallet()).toEqual({ balance: '0.999999999889876543210988', unpaid: '0' });
    // `tenant` names its events so.
    await change(stores, (number) => [voidOf(number, { id: 'u2', value: '70.123456789012' })]);
    expect(await tenant.wallet()).toMatchObject({ balance: '0.99999999996' });
    const { rows } = await stores.pool.query('SELECT current::text AS current FROM usage_levels');
    expect(Number(rows[0].current)).toBe(40);
    await tenant.use({ value: '10' });
    expect(await crossed()).toEqual([50, 50, 100]);
    await change(stores, (number) => [
      voidOf(number, { id: 'u1', value: '40' }),
      { id: 'other', value: '95', change: { number, voids: false } },
    ]);
    expect(await crossed()).toEqual([50, 50, 100, 100]);
    expect(await tenant.wallet()).toMatchObject({ balance: '0.999999999895' });
  });

  // Red when only the flip settles: what was sent while a session closed, and is loaded later, costs nothing.
  it('has records that are loaded once it is visible, and they are settled with their range', async () => {
    const { stores, tenant } = await openTenant();
    await tenant.rate(1, 0, '0.01');
    await tenant.budget('50', null);
    await tenant.grant('1');
    start(stores);
    const open = await begin(stores);
    await appendSettled(stores, [sent(open, 'not closed', '7')]);
    expect(await tenant.wallet()).toMatchObject({ balance: '1' });
    const number = await change(stores, (own) => [sent(own, 'before', '20')]);
    expect(await tenant.wallet()).toMatchObject({ balance: '0.8' });
    await appendSettled(stores, [sent(number, 'after', '40')]);
    expect(await tenant.wallet()).toMatchObject({ balance: '0.4' });
    expect(await tenant.notified('usage.threshold')).toHaveLength(1);
  });

  // Red when it becomes visible with the marks of what it had before: none are of that month.
  it('has records that are loaded just before it is visible, and they are settled with it', async () => {
    const { stores, tenant } = await openTenant();
    await tenant.rate(1, 0, '0.01');
    await tenant.grant('1');
    let late = 1;
    const query: typeof stores.warehouse.query = async (statement) => {
      const found = await stores.warehouse.query<never>(statement);
      const number = statement.params?.number;
      if (number !== undefined && late-- > 0) {
        const occurredAtMs = TEST_NOW_MS - 40 * 86_400_000;
        await appendSettled(stores, [{ ...sent(Number(number), 'late', '40'), occurredAtMs }]);
      }
      return found;
    };
    start(stores, { warehouse: { ...stores.warehouse, query } });
    await change(stores, (number) => [sent(number, 'before', '20')]);
    expect(late).toBeLessThan(1);
    expect(await tenant.wallet()).toMatchObject({ balance: '0.4' });
  });

  it('names each customer meter with its first hour, and of very many the meters', async () => {
    const { stores } = await openTenant();
    const hours = [5, 3, 4].map((hour) => TEST_NOW_MS - hour * 3_600_000);
    const lines = hours.flatMap((occurredAtMs, at) =>
      ['a', 'b'].map((customer): LoggedEvent => {
        const id = eventId(`${customer} ${at}`);
        return {
          ...OWN,
          customerId: `cus_${customer}`,
          id,
          occurredAtMs,
          change: { number: 7, voids: false },
        };
      }),
    );
    start(stores);
    const end = await stores.append(lines);
    await vi.waitFor(async () => {
      const { rows } = await stores.pool.query("SELECT FROM log_ranges WHERE hi = $1 AND state = 'settled'", [
        end,
      ]);
      expect(rows).toHaveLength(1);
    }, WAIT);
    const from = new Date(Math.floor((hours[0] ?? 0) / 3_600_000) * 3_600_000);
    const place = { environment: ENVIRONMENT, number: 7 };
    const each = await readChangedUsage(stores.warehouse, place);
    expect(each.map(({ customerId }) => customerId).sort()).toEqual(['cus_a', 'cus_b']);
    expect(each.map((one) => one.from)).toEqual([from, from]);
    expect(await readChangedUsage(stores.warehouse, place, 1)).toEqual([
      { customerId: null, meterKey: METER, from },
    ]);
    expect(await readChangedUsage(stores.warehouse, { ...place, number: 8 })).toEqual([]);
  });
});
