import { describe, expect, it } from 'vitest';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { createPropertyRollup } from './property-rollup.ts';

const SPAN = { fromMs: Date.UTC(2026, 9, 10), toMs: Date.UTC(2026, 10, 1) };
const USE = { environment: 'ws_a:live', meterKey: 'calls', property: 'region', span: SPAN };

/** A warehouse that has this in its two tables, and what happened in order. */
function opened({ applied, closed }: { applied: string; closed: string[] }) {
  const steps: string[] = [];
  const query: Warehouse['query'] = async <Row>({ sql }: { sql: string }) => {
    const isOfMigrations = sql.includes('metergate.migrations');
    steps.push(isOfMigrations ? 'migrations' : 'closed');
    return (isOfMigrations ? [{ applied }] : closed.map((month) => ({ month }))) as Row[];
  };
  const rollup = createPropertyRollup({ query });
  const read = (use = USE) =>
    rollup.read(use, async () => {
      steps.push('read');
      return 'rows';
    });
  return { steps, read };
}

describe('the rollup by property', () => {
  it('is not read before it is filled', async () => {
    const { steps, read } = opened({ applied: '0', closed: [] });
    expect(await read()).toBeUndefined();
    expect(steps).toEqual(['migrations']);
  });

  // Red when what is closed is looked up first: rows may be left out before they are read.
  it('is read where the property was open after the read', async () => {
    const { steps, read } = opened({ applied: '1', closed: ['2026-09-01', '2026-11-01'] });
    expect(await read()).toBe('rows');
    expect(steps).toEqual(['migrations', 'read', 'closed']);
    expect(await read()).toBe('rows');
  });

  it('is not read again where the property is closed in a month of the span', async () => {
    const { steps, read } = opened({ applied: '1', closed: ['2026-10-01'] });
    expect(await read()).toBeUndefined();
    expect(await read()).toBeUndefined();
    expect(steps).toEqual(['migrations', 'read', 'closed']);
    const november = { fromMs: SPAN.toMs, toMs: SPAN.toMs + 1 };
    expect(await read({ ...USE, span: november })).toBe('rows');
  });
});
