import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { Transient } from '../../../schemas/failures.ts';
import { eventLines, TEST_NOW_MS } from '../../../tests/support/event-line.ts';
import { wrongRowsByProperty } from '../../../tests/support/rows-by-property.ts';
import { testFolder } from '../../../tests/support/test-folder.ts';
import type { Transport } from '../transport.ts';
import { openTransport } from '../transport-under-test.ts';
import { createWarehouseOver } from '../warehouse-over.ts';

const MIGRATIONS = join('infra', 'migrations', 'clickhouse');

/** The migrations before the one that makes the rollup. */
function migrationsBefore(): URL {
  const folder = testFolder();
  const names = readdirSync(MIGRATIONS).filter((name) => /^000[1-4]_/.test(name));
  for (const name of names) copyFileSync(join(MIGRATIONS, name), join(folder, name));
  return pathToFileURL(`${folder}/`);
}

it('what was stored before is in the rollup by property, also when it is cut off or slow', async () => {
  const transport = openTransport(join(testFolder(), 'warehouse'), {});
  const warehouse = createWarehouseOver(transport);
  await warehouse.migrate({ directory: migrationsBefore() });
  const events = Array.from({ length: 60 }, (_, at) => ({
    id: `use_${at}`,
    customerId: `cus_${at % 4}`,
    value: `${at}.5`,
    properties: at % 5 === 0 ? {} : { region: `eu ${at % 3}`, plan: 'pro' },
    occurredAtMs: TEST_NOW_MS - at * 24 * 3_600_000,
  }));
  await warehouse.insertEvents({ token: 'a', lines: eventLines(events), timeoutMs: 20_000 });

  let months = 0;
  const cutOff: Transport = {
    ...transport,
    async command(sql) {
      if (sql.startsWith('INSERT INTO metergate.filled_months') && ++months === 2) throw new Error('killed');
      await transport.command(sql);
    },
  };
  await expect(createWarehouseOver(cutOff).migrate()).rejects.toMatchObject({
    code: 'warehouse_unavailable',
  });
  expect(months).toBe(2);
  await createWarehouseOver(slow(transport)).migrate();
  expect(await wrongRowsByProperty(warehouse)).toEqual([]);
  const sql = "SELECT count() AS n FROM metergate.usage_by_property WHERE property = ''";
  expect(await warehouse.query({ sql, connection: 'long', timeoutMs: 10_000 })).toEqual([{ n: '60' }]);

  await warehouse.insertEvents({ token: 'b', lines: eventLines([{ id: 'use_b' }]), timeoutMs: 20_000 });
  expect(await wrongRowsByProperty(warehouse)).toEqual([]);
});

/**
 * Not of the month that was cut off: the next statements that fill take too long, and leave their rows. Those
 * of all customers, of two, of one, of half a month, of a week.
 */
function slow(transport: Transport): Transport {
  let fills = 0;
  return {
    ...transport,
    async command(sql) {
      await transport.command(sql);
      const isFill = sql.startsWith('INSERT INTO metergate.usage_by_property');
      if (isFill && ++fills > 1 && fills <= 6)
        throw Object.assign(new Error('Timeout exceeded'), { code: '159' });
    },
  };
}

it('nothing is filled in once the pause may have ended', async () => {
  const transport = openTransport(join(testFolder(), 'warehouse'), {});
  const warehouse = createWarehouseOver(transport);
  await warehouse.migrate({ directory: migrationsBefore() });
  await warehouse.insertEvents({ token: 'a', lines: eventLines([{ id: 'use_a' }]), timeoutMs: 20_000 });
  const sent: string[] = [];
  let isPaused = true;
  const watched: Transport = {
    ...transport,
    async command(sql) {
      sent.push(sql);
      if (sql.includes('DROP PARTITION')) isPaused = false;
      await transport.command(sql);
    },
  };
  const mayWrite = async () => {
    if (!isPaused) throw new Transient('insert_gate_lost', 'Others may load.');
  };
  const migrating = createWarehouseOver(watched).migrate({ atPause: (work) => work(mayWrite) });
  await expect(migrating).rejects.toMatchObject({ code: 'insert_gate_lost' });
  expect(sent.at(-1)).toContain('DROP PARTITION');
});
