import { describe, expect, it } from 'vitest';
import { eventLines, type TestEvent } from '../../../tests/support/event-line.ts';
import { warehouseOfThisFile } from '../../../tests/support/log-and-warehouse.ts';
import { wrongRowsByProperty } from '../../../tests/support/rows-by-property.ts';
import type { Statement } from '../../ports/warehouse.ts';
import { createPropertyGuard, type PropertyLimits } from './property-guard.ts';

const IN_BACKGROUND = { timeout: 10_000, interval: 50 };

const warehouse = await warehouseOfThisFile();
let tokens = 0;

async function insert(events: TestEvent[]): Promise<void> {
  const block = { token: `guard ${++tokens}`, lines: eventLines(events), timeoutMs: 20_000 };
  await warehouse.insertEvents(block);
}

/** An id that real ones are as long as: others are read ten times as slowly. */
function idOf(number: number): string {
  return `use_${number.toString(2).replace(/0/g, 'a').replace(/1/g, 'b').padStart(26, 'c')}`;
}

const rows = <Row>(sql: string) => warehouse.query<Row>({ sql, connection: 'long', timeoutMs: 10_000 });
const closed = (meterKey: string) =>
  rows<{ property: string; month: string }>(
    `SELECT property, toString(month) AS month FROM metergate.closed_properties
      WHERE meter_key = '${meterKey}' ORDER BY property`,
  );
const properties = async (meterKey: string) => {
  const found = await rows<{ property: string }>(
    `SELECT DISTINCT property FROM metergate.usage_by_property
      WHERE meter_key = '${meterKey}' ORDER BY property`,
  );
  return found.map(({ property }) => property);
};

function guardWith(sparse: PropertyLimits['sparse']) {
  const transport = {
    rows: <Row>(statement: Statement) => warehouse.query<Row>(statement),
    command: async (sql: string) =>
      void (await warehouse.query({ sql, connection: 'load', timeoutMs: 10_000 })),
  };
  return createPropertyGuard(transport, { limits: { valuesMax: 1_000, propertiesMax: 10, sparse } });
}

describe('a property', () => {
  it('with more values than fit is closed before its rows are left out', async () => {
    const events = Array.from({ length: 10_001 }, (_, at) => ({
      id: idOf(at),
      meterKey: 'many',
      properties: { region: at % 2 === 0 ? 'eu' : 'us', request: `r${at}` },
    }));
    await insert(events);
    expect(await closed('many')).toEqual([{ property: 'request', month: '2026-11-01' }]);
    expect(await properties('many')).toEqual(['', 'region']);
    expect(await wrongRowsByProperty(warehouse)).toEqual([]);
    // Of another month it is open.
    await insert([{ ...(events[0] as TestEvent), id: idOf(20_000), occurredAtMs: Date.UTC(2026, 9, 1) }]);
    expect(await properties('many')).toEqual(['', 'region', 'request']);
    expect(await wrongRowsByProperty(warehouse)).toEqual([]);
  });

  it('whose rows sum up few events is closed once enough are past, and its rows are removed', async () => {
    const pastMs = Date.now() - 48 * 3_600_000;
    const events = Array.from({ length: 120 }, (_, at) => ({
      id: idOf(at),
      meterKey: 'sparse',
      properties: { region: 'eu', step: `s${at % 40}` },
      occurredAtMs: pastMs,
    }));
    await insert(events);
    const month = `${new Date(pastMs).toISOString().slice(0, 7)}-01`;
    const use = (property: string) => {
      return {
        environment: 'ws_a:live',
        meterKey: 'sparse',
        property,
        month,
        rows: 60,
        values: new Set(['s']),
      };
    };
    const uses = ['', 'region', 'step'].map((property) => ({ ...use(property), events: 90 }));
    const ofFewHours = guardWith({ eventsMin: 100, hoursMin: 2, eventsOfAnyHours: 200 });
    for (let times = 0; times < 3; times++) expect(await ofFewHours.judge(uses)).toBe(false);
    const guard = guardWith({ eventsMin: 100, hoursMin: 1, eventsOfAnyHours: 200 });
    expect(await guard.judge(uses)).toBe(false);
    expect(await guard.judge(uses)).toBe(true);
    expect(await closed('sparse')).toEqual([{ property: 'step', month }]);
    expect(await guard.judge(uses)).toBe(false);
    await expect.poll(() => properties('sparse'), IN_BACKGROUND).toEqual(['', 'region']);
    expect(await properties('many')).toEqual(['', 'region', 'request']);
    expect(await wrongRowsByProperty(warehouse)).toEqual([]);
  });

  it('that a process closed just before its end has its rows removed by the next one', async () => {
    await insert([{ id: idOf(1), meterKey: 'left', properties: { region: 'eu' } }]);
    await insert([{ id: idOf(2), meterKey: 'kept', properties: { region: 'eu', step: 's' } }]);
    await rows(`INSERT INTO metergate.closed_properties
      SELECT 'ws_a:live', one.1, one.2, toDate(one.3) FROM (SELECT arrayJoin([('left', '', '2026-11-01'),
        ('kept', 'step', '2026-11-01'), ('kept', 'region', '2026-10-01')]) AS one)`);
    await guardWith({ eventsMin: 100, hoursMin: 1, eventsOfAnyHours: 100 }).judge([]);
    await expect.poll(() => properties('left'), IN_BACKGROUND).toEqual([]);
    await expect.poll(() => properties('kept'), IN_BACKGROUND).toEqual(['', 'region']);
    expect(await wrongRowsByProperty(warehouse)).toEqual([]);
  });

  it('of a meter with very many of them closes the meter', async () => {
    const names = Array.from({ length: 201 }, (_, at) => `p${at}`);
    const of = (some: string[]) => Object.fromEntries(some.map((name) => [name, 'x']));
    await insert(names.map((name, at) => ({ id: idOf(at), meterKey: 'named', properties: of([name]) })));
    expect(await closed('named')).toEqual([{ property: '', month: '2026-11-01' }]);
    expect(await properties('named')).toEqual([]);
  });

  it('of a meter with very many of them closes each such meter of a block', async () => {
    const names = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`p${at}`, 'x']));
    const meters = Array.from({ length: 21 }, (_, at) => `wide${at}`);
    await insert(meters.map((meterKey, at) => ({ id: idOf(at), meterKey, properties: names })));
    const open = await rows(
      "SELECT DISTINCT meter_key FROM metergate.usage_by_property WHERE property = 'p1'",
    );
    expect(open).toEqual([]);
  });
});
