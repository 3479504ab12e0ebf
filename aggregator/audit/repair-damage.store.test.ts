import { expect, it, onTestFinished, vi } from 'vitest';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { openLoadStores } from '../../tests/support/load-stores.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { keepRepairing } from './repair-damage.ts';

const WITHIN = { timeout: 20_000, interval: 20 };

// Red when it is looked for once: an audit gives up after half a minute, and a disk may stay full longer.
it('a repair of damaged parts is requested until it is done, and again only by the next start', async () => {
  const { pool, warehouse } = await openLoadStores();
  let looks = 0;
  const onLook = vi.fn();
  const damaged: Warehouse = {
    ...warehouse,
    query: async <Row>() => {
      looks++;
      if (looks === 1) throw new Error('broken by the test');
      return [{ table: 'events', name: 'broken-on-start_202611_1_1_0' }] as Row[];
    },
  };
  const start = () => {
    const repairing = keepRepairing(pool, damaged, { log: SILENT, onLook, everyMs: 20 });
    onTestFinished(() => repairing.close());
  };
  // Strong reads wait for it: the repair is requested by then.
  onLook.mockImplementation(async () => expect.soft(await states()).not.toEqual([]));
  start();
  const states = async () =>
    (await pool.query('SELECT state, repair FROM audit_runs ORDER BY asked_at')).rows;
  await expect.poll(states, WITHIN).toEqual([{ state: 'asked', repair: true }]);
  await pool.query("UPDATE audit_runs SET state = 'failed'");
  await expect.poll(states, WITHIN).toEqual([{ state: 'asked', repair: true }]);
  await pool.query("UPDATE audit_runs SET state = 'done'");
  const before = looks;
  await expect.poll(() => looks, WITHIN).toBeGreaterThan(before + 2);
  expect(await states()).toEqual([{ state: 'done', repair: true }]);
  expect(onLook).toHaveBeenCalled();
  expect(onLook).toHaveBeenCalled();
  start();
  await expect.poll(states, WITHIN).toEqual(['done', 'asked'].map((state) => ({ state, repair: true })));
});
