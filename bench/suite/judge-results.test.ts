import { describe, expect, it } from 'vitest';
import { compareResults, NotComparable } from './judge-results.ts';

const suite = (...measured: Array<{ id: string; value?: number; control?: number; noise?: number }>) => ({
  kind: 'suite',
  measured,
});
const verdicts = (before: object, after: object) =>
  compareResults(before, after).compared.map(({ name, verdict }) => `${name} ${verdict}`);

describe('two results', () => {
  it('differ in what got worse, whichever way is worse', () => {
    const steady = { control: 1, noise: 0.01 };
    const before = suite({ id: 'G1', value: 0.8, ...steady }, { id: 'G3', value: 2, ...steady });
    const after = suite({ id: 'G1', value: 0.7, ...steady }, { id: 'G3', value: 2.5, ...steady });
    expect(verdicts(before, after)).toEqual(['G1 WORSE', 'G3 WORSE']);
    expect(verdicts(after, before)).toEqual(['G1 better', 'G3 better']);
  });

  // Break this catches: a fixed tolerance, which calls every change of a noisy machine a change of the code.
  it('are the same within what equal things differed by in both runs', () => {
    const before = suite({ id: 'G1', value: 0.8, control: 1.01, noise: 0.08 });
    const after = suite({ id: 'G1', value: 0.7, control: 0.99, noise: 0.08 });
    expect(verdicts(before, after)).toEqual(['G1 same']);
  });

  it('say nothing where a control went astray', () => {
    const before = suite({ id: 'G1', value: 0.8, control: 1.2, noise: 0.01 });
    expect(verdicts(before, suite({ id: 'G1', value: 0.1, control: 1, noise: 0.01 }))).toEqual(['G1 void']);
  });

  it('leave out what only one of them has', () => {
    const before = suite({ id: 'G1', value: 1, control: 1, noise: 0 }, { id: 'G10' });
    expect(verdicts(before, before)).toEqual(['G1 same']);
  });

  it('may be two runs of a load', () => {
    const run = (p99: number) => ({ kind: 'run', latencyMs: { p50: 1, p99 }, events: { perSecond: 5_000 } });
    expect(verdicts(run(4), run(6))).toEqual([
      'latency p50 same',
      'latency p99 WORSE',
      'events per second same',
    ]);
  });

  it('are told apart where they were not made alike', () => {
    const run = { ...suite({ id: 'G1', value: 1, control: 1, noise: 0 }), form: 'quick' };
    expect(compareResults(run, { ...run, form: 'whole' }).warnings).toEqual(['they differ in their form']);
  });

  it('are not compared across kinds, or when they hold no figure', () => {
    expect(() => compareResults({ kind: 'suite' }, { kind: 'run' })).toThrow(NotComparable);
    expect(() => compareResults({ kind: 'lists' }, { kind: 'lists' })).toThrow(NotComparable);
  });
});
