import { expect, it, vi } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { poolOfThisFile } from '../../tests/support/test-pool.ts';
import { forgetFunnelEvents } from '../store/funnel-events.ts';
import { forgetOldResponses } from '../store/idempotent-responses.ts';
import { forgetProcessorEvents } from '../store/processor-events.ts';
import { forgetSimulations } from '../store/simulations.ts';
import { startSweep } from './old-rows-sweep.ts';

const WAIT = { timeout: 10_000, interval: 20 };

interface Kind {
  table: string;
  insert: string;
  forget: typeof forgetOldResponses;
  old: string;
  kept: string;
}

/* Red for its kind when its age changes, or when the sweep leaves the kind out. */
const KINDS: Kind[] = [
  {
    table: 'idempotent_answers',
    insert: `INSERT INTO idempotent_answers (environment, method, path, key, request_hash, status, body,
                                             created_at)
             SELECT 'ws_a:live', 'POST', '/', $2 || ' ' || number, '', 201, '', now() - $2::interval`,
    forget: forgetOldResponses,
    old: '25 hours',
    kept: '23 hours',
  },
  {
    table: 'processor_events',
    insert: `INSERT INTO processor_events (environment, id, received_at)
             SELECT 'ws_a:live', $2 || ' ' || number, now() - $2::interval`,
    forget: forgetProcessorEvents,
    old: '36 days',
    kept: '34 days',
  },
  {
    table: 'funnel_events',
    insert: `INSERT INTO funnel_events (environment, id, event, session_id, created_at)
             SELECT 'ws_a:live', $2 || ' ' || number, 'widget_view', 's', now() - $2::interval`,
    forget: forgetFunnelEvents,
    old: '401 days',
    kept: '399 days',
  },
  {
    table: 'simulations',
    insert: `INSERT INTO simulations (environment, id, status, offer, starts_at, ends_at, customers,
                                      worked_at, created_at)
             SELECT 'ws_a:live', $2 || ' ' || number, 'completed', '{}', now(), now(), 0, now(),
                    now() - $2::interval`,
    forget: forgetSimulations,
    old: '8 days',
    kept: '6 days',
  },
];

const pool = await poolOfThisFile();
await pool.query(`INSERT INTO workspaces (id, name) VALUES ('ws_a', 'A')`);
await pool.query(`INSERT INTO environments (id, workspace_id, mode) VALUES ('ws_a:live', 'ws_a', 'live')`);

it.each(KINDS)(
  'rows of $table are deleted in bounded batches, from the start on, once older than $kept',
  async (kind) => {
    const add = (count: number, age: string) =>
      pool.query(`${kind.insert} FROM generate_series(1, $1) AS number`, [count, age]);
    const left = async () => (await pool.query(`SELECT count(*) FROM ${kind.table}`)).rows[0].count;
    await add(2_500, kind.old);
    await add(3, kind.kept);
    expect([await kind.forget(pool, 400), await left()]).toEqual([400, 2_103]);
    const sweep = startSweep(pool, SILENT);
    await vi.waitFor(async () => expect(await left()).toBe(3), WAIT);
    await sweep.close();
  },
);
