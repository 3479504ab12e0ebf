import { expect, it, onTestFinished } from 'vitest';
import { NO_CHANGES } from '../../domain/store/usage-views.ts';
import { createClickHouseWarehouse } from '../../infra/clickhouse/clickhouse-warehouse.ts';
import { startChdbHttpServer } from '../../tests/servers/chdb-http-server.ts';
import { eventLines, TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { createPropertyRollup } from './property-rollup.ts';
import { readBreakdown } from './read-breakdown.ts';
import { readMeterUsage } from './read-meter-usage.ts';

const HOUR_MS = 3_600_000;

// Red when a parameter is a list of numbers, which goes as text in the body of a request.
it('a ClickHouse server reads whole hours of the rollup and cut ones of the events', async () => {
  const server = await startChdbHttpServer(testFolder());
  onTestFinished(() => server.close());
  const warehouse = createClickHouseWarehouse({ url: server.url, log: SILENT });
  onTestFinished(() => warehouse.close());
  await warehouse.migrate();
  const events = Array.from({ length: 40 }, (_, at) => ({
    id: `use_${at}`,
    properties: at % 4 === 0 ? {} : { region: at % 2 === 0 ? 'eu' : 'us' },
    occurredAtMs: TEST_NOW_MS - at * HOUR_MS,
  }));
  await warehouse.insertEvents({ token: 'a', lines: eventLines(events), timeoutMs: 20_000 });
  const span = { fromMs: TEST_NOW_MS - 20 * HOUR_MS - 1, toMs: TEST_NOW_MS + 1 };
  const deps = { warehouse, view: NO_CHANGES, rollup: createPropertyRollup(warehouse) };
  const { groups, all, source } = await readBreakdown(deps, {
    customerMeter: {
      environment: 'ws_a:live',
      customerId: 'cus_a',
      meter: { key: 'calls', aggregation: 'sum' },
    } as Parameters<typeof readBreakdown>[1]['customerMeter'],
    ...{ dimension: 'region', offsets: undefined, filter: [], quantiles: [], order: 'total' },
    ...{ span, versions: [], limit: 10 },
  });
  expect(source).toBe('rollup');
  expect(all).toMatchObject({ total: '21', count: 21 });
  expect(groups.map(({ label, count }) => [label, count])).toEqual([
    ['us', 10],
    ['', 6],
    ['eu', 5],
  ]);
  const usage = await readMeterUsage(deps, {
    ...{ environment: 'ws_a:live', meterKey: 'calls', aggregation: 'count', span, starts: [span.fromMs] },
    ...{ groupBy: ['region'], customerId: undefined, filter: [], quantiles: [], limit: 10 },
  });
  expect(usage).toMatchObject({ source: 'rollup', groupCount: 3, all: { total: '21', count: 21 } });
});
