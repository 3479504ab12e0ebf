import { expect, it } from 'vitest';
import { queryPostgres } from '../faults/query-postgres.ts';
import { untilResponse } from '../faults/until-response.ts';
import type { ApiResponse } from '../support/api.ts';
import { auditOf } from '../support/audit-of.ts';
import { numberText } from '../support/exact.ts';
import { seenInTime } from '../support/in-time.ts';
import type { Role } from '../support/instance.ts';
import { ofThisFile } from '../support/of-this-file.ts';
import { openInstance } from '../support/open-instance.ts';

/* Corrections of every kind, with kill -9 of every process between them. */
const EVENTS = 300;
const WORKERS = 6;
const OCCURRED_AT = new Date(Date.now() - 86_400_000).toISOString();
const VICTIMS: Role[] = [
  'control side',
  'data plane',
  'postgres',
  'control side',
  'data plane',
  'supervisor',
];
const PATIENCE = { timeoutMs: 120_000, everyMs: 20 };

const { instance, api } = await ofThisFile(
  openInstance({ LOG_LEVEL: 'warn', SEED_DEMO: 'keys' }, { connections: 2 * WORKERS }),
  ({ close }) => close(),
);
const isOpen = ({ status }: ApiResponse) => status === 503;

async function done(method: 'GET' | 'POST', path: string, body?: object): Promise<Record<string, unknown>> {
  const send = () => api.call(method, path, body ? { body: JSON.stringify(body) } : {});
  const { response } = await untilResponse(send, `${method} ${path}`, isOpen);
  expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
  return response.body as Record<string, unknown>;
}

/** What becomes of the event with this number: each void, amendment and selection leaves another sum. */
function valueAfter(number: number): number {
  if (number % 5 === 4) return 0;
  if (number % 3 === 0) return 0;
  return number % 3 === 1 ? 1_000 : number;
}

it('each takes effect once, whatever is killed, and counts as the events that were never wrong', async () => {
  await done('POST', '/customers', { name: 'Ada', email: 'a@example.com', externalId: 'ada' });
  await done('POST', '/meters', { key: 'calls', name: 'calls', aggregation: 'sum' });
  const events = Array.from({ length: EVENTS }, (_, number) => ({
    ...{ idempotencyKey: `event-${number}`, customerId: 'ada', meterId: 'calls', value: number },
    ...{ occurredAt: OCCURRED_AT, properties: { part: number % 5 === 4 ? 'wrong' : 'right' } },
  }));
  const { results } = (await done('POST', '/usage/events/batch', { events })) as {
    results: Array<{ eventId: string }>;
  };
  let next = 0;
  let responded = 0;
  const work = async () => {
    for (let number = next++; number < EVENTS; number = next++) {
      const path = `/usage/events/${results[number]?.eventId}`;
      if (number % 5 === 4) continue;
      if (number % 3 === 0) await done('POST', `${path}/void`, {});
      if (number % 3 === 1) await done('POST', `${path}/amend`, { value: 1_000 });
      responded += 1;
    }
  };
  const select = { customerId: 'ada', from: OCCURRED_AT.slice(0, 10), to: new Date().toISOString() };
  const kill = async () => {
    for (const [at, victim] of VICTIMS.entries()) {
      const least = ((at + 1) * EVENTS * 0.8) / (VICTIMS.length + 2);
      await seenInTime(() => responded >= least || undefined, PATIENCE, `${least} corrections`);
      await instance.kill(victim);
      if (victim === 'supervisor') await instance.start();
    }
  };
  const selected = done('POST', '/usage/corrections', {
    select: { ...select, from: `${select.from}T00:00:00Z`, properties: { part: 'wrong' } },
    action: 'void',
  });
  await Promise.all([...Array.from({ length: WORKERS }, work), kill(), selected]);

  const expected = events.reduce((sum, _, number) => sum + valueAfter(number), 0);
  const path = `/usage/corrections/${(await selected).id}`;
  await seenInTime(
    async () => (await done('GET', path)).status === 'completed' || undefined,
    PATIENCE,
    'the selection',
  );
  const counter = await done('GET', `/usage/ada/calls?consistency=strong&at=${OCCURRED_AT}`);
  expect(Number(numberText(counter.current))).toBe(expected);
  const [rows] = await queryPostgres<{ open: number; unwritten: number }>(
    instance.postgresUrl(),
    `SELECT (SELECT count(*)::int FROM usage_changes WHERE state NOT IN ('visible', 'reverted')) AS open,
            (SELECT count(*)::int FROM usage_voids WHERE NOT written) AS unwritten`,
  );
  expect(rows).toEqual({ open: 0, unwritten: 0 });
  expect(await auditOf(instance.dataDir)).toEqual([]);
}, 400_000);
