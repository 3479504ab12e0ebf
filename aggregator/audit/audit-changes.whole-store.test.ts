import { expect, it } from 'vitest';
import type { LoggedEvent } from '../../tests/support/load-frames.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import { appendSettled, events, start } from '../aggregator-under-test.ts';
import { audit } from './audit-under-test.ts';
import { AUDIT_EXIT } from './request-audit.ts';

/** A backfill of 20 events that voids 10 ordinary ones, and another change that voids 3 of the 20. */
const LOGGED: LoggedEvent[] = [
  ...events(0, 60),
  ...events(100, 120).map((event) => ({ ...event, change: { number: 7, voids: false } })),
  ...events(0, 10).map((event) => ({ ...event, change: { number: 7, voids: true } })),
  ...events(100, 103).map((event) => ({ ...event, change: { number: 9, voids: true, of: 7 } })),
];

const DAMAGES = {
  'events of a change': "ALTER TABLE metergate.change_events DELETE WHERE customer_id = 'cus_1'",
  voids: "ALTER TABLE metergate.voided_events DELETE WHERE customer_id = 'cus_0'",
  'hours of changes': 'ALTER TABLE metergate.change_hourly DELETE WHERE change = 9',
  'rows by property': "ALTER TABLE metergate.change_by_property DELETE WHERE property = 'region'",
  'all of it': 'ALTER TABLE metergate.change_events DELETE WHERE true',
};

function storedOf({ rows }: LoadStores): Promise<unknown[]> {
  return rows(
    `SELECT name, change, of_change, customer_id, sum(t) AS total, toInt64(sum(n)) AS number FROM (
       SELECT 'hours' AS name, change, of_change, customer_id, h.total AS t, h.events AS n
         FROM metergate.change_hourly AS h
        UNION ALL
       SELECT concat('by ', property), change, of_change, customer_id, r.total, r.events
         FROM metergate.change_by_property AS r
        UNION ALL
       SELECT 'events', change, toUInt64(0), customer_id, value, toUInt64(1)
         FROM metergate.change_events FINAL
        UNION ALL
       SELECT 'voids', change, of_change, customer_id, value, toUInt64(1) FROM metergate.voided_events FINAL)
      GROUP BY ALL ORDER BY ALL`,
  );
}

/** Red where an audit knows ordinary usage alone: hours lack what voids took away, and the log has more. */
it('an audit finds and repairs what is missing of changes of usage', { timeout: 300_000 }, async () => {
  const stores = await openLoadStores();
  start(stores);
  await appendSettled(
    stores,
    LOGGED.map((event) => ({ ...event, properties: { region: 'eu' } })),
  );
  const before = await storedOf(stores);
  expect(before).not.toEqual([]);
  expect(await audit(stores)).toMatchObject({ code: AUDIT_EXIT.same, differences: [] });
  for (const [what, damage] of Object.entries(DAMAGES)) {
    await stores.rows(`${damage} SETTINGS mutations_sync = 1`);
    expect(await audit(stores), what).toMatchObject({ code: AUDIT_EXIT.different });
    expect(await audit(stores, { repair: true }), what).toMatchObject({ code: AUDIT_EXIT.same });
    expect(await storedOf(stores), what).toEqual(before);
  }
});
