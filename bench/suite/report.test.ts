import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { GOALS } from './goals.ts';
import { reportPage } from './report-page.ts';
import type { KeptSuite } from './suite-result.ts';
import { goalTable } from './table.ts';

const KEPT: KeptSuite = {
  kind: 'suite',
  at: '2026-11-22T14:00:00.000Z',
  commit: 'abc',
  node: 'v20',
  versions: {},
  machine: { cpu: 'A <fast> one', cores: 2, memoryGib: 24, system: 'Linux', fileSystem: 'ext4' },
  form: 'scale',
  seed: 1,
  sizes: {},
  seconds: {},
  failed: {},
  measured: [
    { id: 'G1', value: 0.9, control: 1.01, noise: 0.02, pairs: [0.9] },
    { id: 'G7', value: 0.5, isSmaller: true, note: 'on few events' },
    { id: 'G10', note: 'not built' },
  ],
  stages: { cpuMicrosPerEvent: { read: 0.2, log: 0.4 }, logWallMicrosPerEvent: 1 },
  keyCurve: [
    { keys: 1e6, microsPerKey: 0.3, rssMib: 0 },
    { keys: 1e7, microsPerKey: 0.4, rssMib: 900 },
  ],
  growth: [1e6, 1e7].map((events) => {
    return { events, ingestCpuMicros: 3, counterMs: { p99: 5 }, breakdownMs: { p99: 50 } };
  }),
};

describe('the table of goals', () => {
  it('has a row for every goal, measured or not', () => {
    const rows = goalTable(KEPT).split('\n').slice(2);
    expect(rows.map((row) => row.split('|')[1]?.trim())).toEqual(GOALS.map(({ id }) => id));
    expect(rows[0]).toMatch(/\| \*\*0\.9\*\* +\| floor +\|/);
    expect(rows[6]).toMatch(/\| a smaller form +\|/);
    expect(rows[9]).toMatch(/\| – +\| not measured +\|/);
  });
});

describe('the page of a run', () => {
  it('holds its charts itself, and nothing from elsewhere', () => {
    const path = join(testFolder(), 'suite.json');
    writeFileSync(path, JSON.stringify(KEPT));
    const page = reportPage(path);
    expect(page.match(/<svg /g)).toHaveLength(5);
    expect(page).toContain('A &lt;fast> one');
    expect(page).not.toMatch(/<script|<link|src=|https?:/);
    expect(page).not.toMatch(/NaN|undefined/);
  });
});
