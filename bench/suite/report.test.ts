import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { GOALS } from './goals.ts';
import { reportPage } from './report-page.ts';
import type { KeptSuite } from './suite-result.ts';
import { goalTable, renewReadme } from './table.ts';

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
  skipped: [],
  seconds: { latency: 40, soak: 0 },
  otherWorkCores: { latency: 0.03, soak: 1.4 },
  failed: {},
  measured: [
    { id: 'G1', value: 0.9, control: 1.01, noise: 0.02, pairs: [0.9] },
    { id: 'G7', value: 0.5, isSmaller: true, note: 'on few events' },
    { id: 'G10', note: 'not built' },
    { id: 'G3/300k', isNotReached: true, note: '200000 of 300000 events/s' },
  ],
  latency: [
    {
      offeredPerSecond: 170_000,
      respondedPerSecond: 170_000,
      frames: { perSecond: 300, bytes: 135_000 },
      responseMs: { p50: 1.5, p99: 9 },
      bareFlushMs: { p50: 0.4, p99: 1.5 },
      generator: {
        p99WithoutStallsMs: 8.9,
        stalledShare: 0.0042,
        longestStallMs: 3.1,
        majorCollections: 0,
        minorCollections: 4,
        longestCollectionMs: 0.9,
      },
    },
  ],
  disk: {
    mid: { events: 1e6, bytesPerEvent: { events: 66, usage_hourly: 3 } },
    wide: { events: 1e6, bytesPerEvent: { events: 70, usage_hourly: 67 } },
  },
  stages: { cpuMicrosPerEvent: { read: 0.2, log: 0.4 }, logWallMicrosPerEvent: 1 },
  keyCurve: [
    { keys: 1e6, microsPerKey: 0.3, rssMib: 0 },
    { keys: 1e7, microsPerKey: 0.4, rssMib: 900 },
  ],
  growth: [1e6, 1e7].map((events) => {
    return { events, ingestCpuMicros: 3, counterMs: { p50: 3, p99: 5 }, breakdownMs: { p50: 30, p99: 50 } };
  }),
};

describe('the table of goals', () => {
  it('has a row for every goal, measured or not', () => {
    const rows = goalTable(KEPT).split('\n').slice(2);
    expect(rows.map((row) => row.split('|')[1]?.trim())).toEqual(GOALS.map(({ id }) => id));
    expect(rows[0]).toMatch(/\| \*\*0\.9\*\* +\| floor +\|/);
    const row = (id: string) => rows[GOALS.findIndex((goal) => goal.id === id)];
    expect(row('G7')).toMatch(/\| a smaller form +\|/);
    expect(row('G10')).toMatch(/\| – +\| not measured +\|/);
    expect(row('G3/300k')).toMatch(/\| – +\| not reached +\|/);
  });
});

describe('the page of a run', () => {
  it('holds its charts itself, and nothing from elsewhere', () => {
    const path = join(testFolder(), 'suite.json');
    writeFileSync(path, JSON.stringify(KEPT));
    const page = reportPage(path);
    expect(page.match(/<svg /g)).toHaveLength(8);
    expect(page).toContain('A &lt;fast> one');
    expect(page).not.toMatch(/<script|<link|src=|https?:/);
    expect(page).not.toMatch(/NaN|undefined/);
  });
});

describe('the page of the last run', () => {
  const PAGE = '# Bench\n\n<!-- last run: begin -->\n\nold\n\n<!-- last run: end -->\n';

  // Fault this catches: a page that cites figures which are not kept.
  it('links to the result that it was made of', () => {
    const folder = testFolder();
    const [readme, result] = [join(folder, 'README.md'), join(folder, 'results', 'suite-1.json')];
    mkdirSync(join(folder, 'results'));
    writeFileSync(readme, PAGE);
    expect(() => renewReadme(result, readme)).toThrow(/ENOENT/);
    expect(readFileSync(readme, 'utf8')).toBe(PAGE);
    writeFileSync(result, JSON.stringify(KEPT));
    renewReadme(result, readme);
    const page = readFileSync(readme, 'utf8');
    expect(page).toContain('[results/suite-1.json](results/suite-1.json)');
    expect(page).toContain('\n- G7: on few events\n');
    expect(page).toContain('Cores that other work took meanwhile, by part:\n\n| latency |\n');
    expect(page).toContain('Bytes of the warehouse per event, shape wide:');
    expect(page).not.toMatch(/NaN|undefined|old/);
  });
});
