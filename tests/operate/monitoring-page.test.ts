import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EVENT_TWICE, NEAR_RETENTION } from '../../schemas/alarm-codes.ts';
import {
  CONTROL_CHECKS,
  CONTROL_UNREACHABLE,
  DATA_PLANE_BLOCKERS,
  ROLE_CHECKS,
} from '../../schemas/readiness-names.ts';
import { alertRules } from './board-and-rules.ts';
import { metricsInCode, nodeMetrics } from './metrics-in-code.ts';

const page = readFileSync('docs/operate/monitoring.md', 'utf8');
const metrics = await metricsInCode();

/** What a load reads and writes, and what throws there: each of these codes may become an alarm. */
const LOADING = [
  'aggregator/load/block.ts',
  'aggregator/load/insert-lock.ts',
  'aggregator/load/lease.ts',
  'aggregator/load/load-loop.ts',
  'aggregator/load/quarantine-lines.ts',
  'aggregator/settle/bounded-warehouse.ts',
  'aggregator/store/leases.ts',
  'aggregator/store/running-inserts.ts',
  'infra/clickhouse/driver-errors.ts',
  'infra/clickhouse/taken-rows.ts',
  'infra/kafka/kafka-errors.ts',
  'infra/kafka/kafka-reader.ts',
  'infra/kafka/topic-identity-check.ts',
  'infra/postgres/unavailable.ts',
  'infra/segment-log/durable-end.ts',
  'infra/segment-log/reader.ts',
  'infra/segment-log/segment-file.ts',
  'infra/segment-log/segment-reads.ts',
  'schemas/stored/frame.ts',
];
/** A partition that another process took is no alarm. */
const NO_ALARM = 'lease_lost';

/** Red when one is added, renamed or removed and the page is not changed: in both directions. */
describe('docs/operate/monitoring.md has a line for', () => {
  it('each metric, and none that is gone', () => {
    expect(lines('## Metrics').sort()).toEqual(metrics.map(({ name }) => name).sort());
    const named = new Set(page.match(/\bmetergate_\w+/g));
    const known = new Set([...metrics.map(({ name }) => name), ...nodeMetrics()]);
    expect([...named].filter((name) => !known.has(name))).toEqual([]);
  });

  it('each alarm code, and none that is gone', () => {
    expect(lines('### Loading continues')).toEqual([EVENT_TWICE, NEAR_RETENTION]);
    const codes = new Set(LOADING.flatMap(codesOf));
    expect(codes.delete(NO_ALARM)).toBe(true);
    expect(lines('### Loading is paused').sort()).toEqual([...codes].sort());
  });

  it('each readiness check, and none that is gone', () => {
    expect(lines('### Checks of the control plane')).toEqual([...CONTROL_CHECKS, CONTROL_UNREACHABLE]);
    expect(lines('### Checks of a role')).toEqual([...ROLE_CHECKS]);
    expect(lines('### The data plane')).toEqual([...DATA_PLANE_BLOCKERS]);
  });

  it('each alert, and none that is gone', () => {
    expect(lines('## Alerts')).toEqual(alertRules().map(({ alert }) => alert));
  });
});

it('no row of its tables is over 300 characters', () => {
  expect(page.split('\n').filter((line) => line.startsWith('|') && line.length > 300)).toEqual([]);
});

describe('the help text of a metric', () => {
  it.each(metrics)('$name is a sentence, and names the unit that the name ends in', ({ name, help }) => {
    expect(help).toMatch(/^[A-Z].*\.$/);
    const [, unit] = /_(seconds|bytes)(?:_total)?$/.exec(name) ?? [];
    if (unit !== undefined) expect(help.toLowerCase()).toContain(unit);
  });
});

/** The first cells of the tables below a heading, without their back ticks, up to the next of its level. */
function lines(heading: string): string[] {
  const level = heading.split(' ')[0]?.length ?? 0;
  const [, from = ''] = page.split(`\n${heading}\n`);
  const [section = ''] = from.split(new RegExp(`\\n#{1,${level}} `));
  return [...section.matchAll(/^\| `(\w+)`/gm)].map(([, cell = '']) => cell);
}

function codesOf(file: string): string[] {
  const thrown = /new (?:Transient|Poison|Fatal)\(\s*'(\w+)'|busyCode: '(\w+)'/g;
  const found = [...readFileSync(file, 'utf8').matchAll(thrown)].map(([, code, busy]) => code ?? busy ?? '');
  if (found.length === 0) throw new Error(`${file} has no code of a failure: is it in the right place?`);
  return found;
}
