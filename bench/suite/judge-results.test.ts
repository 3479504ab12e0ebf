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
    const before = suite({ id: 'G1', value: 0.8, ...steady }, { id: 'G3/170k', value: 2, ...steady });
    const after = suite({ id: 'G1', value: 0.7, ...steady }, { id: 'G3/170k', value: 2.5, ...steady });
    expect(verdicts(before, after)).toEqual(['G1 WORSE', 'G3/170k WORSE']);
    expect(verdicts(after, before)).toEqual(['G1 better', 'G3/170k better']);
  });

  // Fault this catches: a fixed tolerance, which calls every change of a noisy machine a change of the code.
  it('are the same within the difference of equal runs in both', () => {
    const before = suite({ id: 'G1', value: 0.8, control: 1.01, noise: 0.08 });
    const after = suite({ id: 'G1', value: 0.7, control: 0.99, noise: 0.08 });
    expect(verdicts(before, after)).toEqual(['G1 same']);
  });

  it('say nothing where a control went astray', () => {
    const before = suite({ id: 'G1', value: 0.8, control: 1.2, noise: 0.01 });
    expect(verdicts(before, suite({ id: 'G1', value: 0.1, control: 1, noise: 0.01 }))).toEqual(['G1 void']);
  });

  // Fault this catches: the median of few times compared with the p99 of many, and called better.
  it('say nothing where one is a middle and the other a p99', () => {
    const by = (kind?: string) => ({ kind: 'suite', measured: [{ id: 'G3/170k', value: 5, by: kind }] });
    expect(verdicts(by('p99'), by('p50'))).toEqual(['G3/170k void']);
    expect(verdicts(by(), by('p50'))).toEqual(['G3/170k void']);
    expect(verdicts(by('p50'), by('p50'))).toEqual(['G3/170k same']);
  });

  it('leave out what neither has', () => {
    const before = suite({ id: 'G1', value: 1, control: 1, noise: 0 }, { id: 'G10' });
    expect(verdicts(before, before)).toEqual(['G1 same']);
  });

  // Fault this catches: a part that fails from one commit to the next, and nothing seems to be worse.
  it('differ in a goal that is not measured any more', () => {
    const before = suite({ id: 'G1', value: 1, control: 1, noise: 0 }, { id: 'G7', value: 1 });
    expect(verdicts(before, suite({ id: 'G1', value: 1 }, { id: 'G7' }))).toEqual(['G1 same', 'G7 WORSE']);
    expect(verdicts(before, suite({ id: 'G1', value: 1 }))).toEqual(['G1 same', 'G7 WORSE']);
  });

  it('differ in a cost, by more than 15 %', () => {
    const costs = (factor: number) => ({
      kind: 'suite',
      stages: { cpuMicrosPerEvent: { read: factor, check: 0.01 * factor } },
      ingest: { cpuMicrosPerEvent: { 'bare uWS, batches': factor, 'ingest, batches': 3 * factor } },
      whole: {
        cpuMicrosPerEvent: { 'control side': 20 * factor, generator: factor },
        rssPeakMib: { 'data plane': 300 * factor },
        diskBytesPerEvent: { log: 200 * factor },
      },
      keyCurve: [{ keys: 4e6, microsPerKey: factor, rssMib: 1 }],
      growth: [{ events: 10_004_000, ingestCpuMicros: 3, counterMs: { p99: factor }, breakdownMs: {} }],
      soak: { latencyMs: { p50: 1, p99: 10 * factor } },
    });
    expect(verdicts(costs(1), costs(1.1)).filter((one) => !one.endsWith('same'))).toEqual([]);
    const worse = verdicts(costs(1), costs(1.3)).filter((one) => one.endsWith('WORSE'));
    expect(worse).toEqual([
      'CPU of stage read WORSE',
      'CPU of ingest, batches WORSE',
      'CPU to the count, control side WORSE',
      'peak memory, data plane WORSE',
      'disk per event, log WORSE',
      'CPU per key at 4 M WORSE',
      'counter p99 at 10 M WORSE',
      'soak, latency p99 WORSE',
    ]);
  });

  // Fault this catches: a figure of the suite that may get worse without a word.
  it('differ in bytes by little, in times by more, and in a rate that is not reached any more', () => {
    const run = (factor: number, more: object = {}) =>
      suite(
        { id: 'W', value: 1.4 * factor },
        { id: 'G13', value: 85_000 / factor },
        { id: 'G14/mid', value: 69 * factor },
        { id: 'G15', value: 28 * factor },
        { id: 'G17', value: 16 * factor },
        { id: 'G18', value: 1.5 * factor },
        { id: 'G3/300k', value: 4, ...more },
      );
    const worse = (after: object) => verdicts(run(1), after).filter((one) => one.endsWith('WORSE'));
    expect(worse(run(1.04))).toEqual([]);
    expect(worse(run(1.2))).toEqual(['W WORSE', 'G14/mid WORSE', 'G17 WORSE']);
    expect(worse(run(1.5))).toHaveLength(6);
    expect(worse(run(1, { isNotReached: true }))).toEqual(['G3/300k WORSE']);
    expect(worse(run(1, { value: undefined, isNotReached: true }))).toEqual(['G3/300k WORSE']);
  });

  it('differ in what the parts found besides their goals', () => {
    const costs = (factor: number) => ({
      kind: 'suite',
      sustained: { rssPeakMib: { 'control side': 800 * factor, generator: 100 * factor } },
      disk: {
        mid: { events: 1e6, bytesPerEvent: { events: 66 * factor } },
        wide: { events: 1e6, bytesPerEvent: { usage_hourly: 67 * factor } },
      },
      manyKeys: { cpuMicrosPerKey: 0.3 * factor },
    });
    expect(verdicts(costs(1), costs(1.3))).toEqual([
      'peak memory, sustained, control side WORSE',
      'warehouse per event, mid, events WORSE',
      'warehouse per event, wide, usage_hourly WORSE',
      'CPU per key, added to many WORSE',
    ]);
  });

  // Fault this catches: a faster server that counts wrong.
  it('differ in what should not be at all', () => {
    const sound = { problems: [], counters: 'exactly what was acknowledged', requestsNotSent: 0 };
    const wrong = {
      problems: ['a', 'b'],
      counters: 'wrong',
      requestsNotSent: 7,
      requestsRepeated: { 503: 2 },
    };
    const named = ['problems', 'counters wrong', 'requests repeated', 'requests not sent'];
    const run = (load: object) => ({ kind: 'run', events: { perSecond: 1 }, ...load });
    const all = (verdict: string) => ['events per second same', ...named.map((name) => `${name} ${verdict}`)];
    expect(verdicts(run(sound), run(sound))).toEqual(['events per second same']);
    expect(verdicts(run(sound), run(wrong))).toEqual(all('WORSE'));
    expect(verdicts(run(wrong), run(sound))).toEqual(all('better'));
    const again = ['WORSE', 'WORSE', 'same', 'same'];
    expect(verdicts(run(wrong), run(wrong)).slice(1)).toEqual(
      named.map((name, at) => `${name} ${again[at]}`),
    );
    const soaked = (soak: object) => ({ ...suite({ id: 'G1', value: 1 }), soak });
    expect(verdicts(soaked(sound), soaked(wrong))).toContain('soak, requests not sent WORSE');
  });

  it('may be two runs of a load', () => {
    const run = (p99: number) => ({ kind: 'run', latencyMs: { p50: 1, p99 }, events: { perSecond: 5_000 } });
    expect(verdicts(run(4), run(6))).toEqual([
      'latency p50 same',
      'latency p99 WORSE',
      'events per second same',
    ]);
  });

  it('are not compared where they were measured differently', () => {
    const run = { ...suite({ id: 'G1', value: 1, control: 1, noise: 0 }), form: 'quick' };
    expect(compareResults(run, { ...run, form: 'whole' }).warnings).toEqual(['they differ in their form']);
    const interrupted = compareResults(run, { ...run, interrupted: true });
    expect(interrupted.warnings).toEqual(['one of them was interrupted']);
  });

  it('are not compared across kinds, or when they hold no figure', () => {
    expect(() => compareResults({ kind: 'suite' }, { kind: 'run' })).toThrow(NotComparable);
    expect(() => compareResults({ kind: 'lists' }, { kind: 'lists' })).toThrow(NotComparable);
  });
});
