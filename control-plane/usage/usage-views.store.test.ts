import type { Pool } from 'pg';
import { beforeEach, expect, it } from 'vitest';
import {
  closeUsageChange,
  insertUsageChange,
  revertUsageChange,
  showUsageChange,
} from '../../domain/store/usage-changes.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { Transient } from '../../schemas/failures.ts';
import { poolOfThisFile } from '../../tests/support/test-pool.ts';
import type { ReadTime } from './read-time.ts';
import { createUsageViews } from './usage-views.ts';

const ENVIRONMENT = 'ws_a:live';
const AT = new Date('2026-11-27T12:00:00.000Z');
const pool = await poolOfThisFile();
await pool.query("INSERT INTO workspaces (id, name) VALUES ('ws_a', 'A')");
await pool.query("INSERT INTO environments (id, workspace_id, mode) VALUES ('ws_a:live', 'ws_a', 'live')");

let [isDown, nowMs, made] = [false, 0, 0];
const mayBeDown = {
  query: (...given: Parameters<Pool['query']>) => {
    if (isDown) throw new Transient('database_unavailable', 'Postgres is unavailable');
    return pool.query(...given);
  },
} as unknown as Pool;
const open = () => createUsageViews({ pool: mayBeDown, clock: { monotonicMs: () => nowMs } });

beforeEach(async () => {
  [isDown, nowMs] = [false, 0];
  await pool.query('TRUNCATE usage_changes, usage_voids');
});

async function begin(): Promise<number> {
  made += 1;
  const given = { environment: ENVIRONMENT, id: `cor_${made}`, kind: 'void', hasVoids: true } as const;
  const more = { request: {}, createdBy: 'key_a', createdAt: AT };
  return inTransaction(pool, (db) => insertUsageChange(db, { ...given, ...more }));
}

async function close(number: number): Promise<void> {
  await closeUsageChange(pool, number, { endsAt: [], at: AT });
}

function timeOf(leftMs: number): ReadTime {
  const endsAt = performance.now() + leftMs;
  return {
    leftMs: () => Math.max(1, endsAt - performance.now()),
    within: (begun) => begun,
    untimed: (work) => work(),
  };
}

it('a cached view is used until a change is notified, or for 5 s', async () => {
  const views = open();
  expect(await views.of(ENVIRONMENT)).toMatchObject({ upTo: 0 });
  const first = await begin();
  expect(await views.of(ENVIRONMENT)).toMatchObject({ upTo: 0 });
  views.invalidate('ws_b:live');
  expect(await views.of(ENVIRONMENT)).toMatchObject({ upTo: 0 });
  views.invalidate(ENVIRONMENT);
  expect(await views.of(ENVIRONMENT)).toMatchObject({ upTo: first, hidden: [first] });
  const second = await begin();
  nowMs += 4_999;
  expect(await views.of(ENVIRONMENT)).toMatchObject({ upTo: first });
  nowMs += 1;
  expect(await views.of(ENVIRONMENT)).toMatchObject({ upTo: second });
});

it('an old view is used for ten minutes while Postgres is unavailable', async () => {
  const views = open();
  const first = await begin();
  await views.of(ENVIRONMENT);
  isDown = true;
  views.clear();
  nowMs += 599_999;
  expect(await views.of(ENVIRONMENT)).toMatchObject({ upTo: first });
  nowMs += 1;
  await expect(views.of(ENVIRONMENT)).rejects.toBeInstanceOf(Transient);
  await expect(views.of('ws_unknown:live')).rejects.toBeInstanceOf(Transient);
});

it('a fresh view has every change that was closing before it, and waits for no other', async () => {
  const views = open();
  const [open1, closing] = [await begin(), await begin()];
  await views.of(ENVIRONMENT);
  await close(closing);
  const read = views.fresh(ENVIRONMENT, timeOf(60_000));
  // Red where it does not wait: the view has the change as a hidden one.
  await pool.query('SELECT pg_sleep(0.05)');
  await showUsageChange(pool, closing, AT);
  expect(await read).toMatchObject({ hidden: [open1], upTo: closing });
  expect(await views.of(ENVIRONMENT)).toMatchObject({ hidden: [open1] });
});

it('a fresh view is rejected while a change stays closing, and not once it is reverted', async () => {
  const views = open();
  const number = await begin();
  await close(number);
  await expect(views.fresh(ENVIRONMENT, timeOf(50))).rejects.toMatchObject({
    rejection: { code: 'unavailable' },
  });
  await inTransaction(pool, (db) => revertUsageChange(db, number, AT));
  expect(await views.fresh(ENVIRONMENT, timeOf(60_000))).toMatchObject({ hidden: [number] });
});
