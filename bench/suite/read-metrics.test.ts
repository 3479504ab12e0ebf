import { expect, it } from 'vitest';
import { growthOf, parseMetrics } from './read-metrics.ts';

const PAGE = `# HELP metergate_frames_total Frames.
# TYPE metergate_frames_total counter
metergate_frames_total{partition="0"} 3
metergate_frames_total{partition="1"} 4
metergate_seconds 1.5e-7
`;

it('a metric is the sum of its series', () => {
  expect([...parseMetrics(PAGE)]).toEqual([
    ['metergate_frames_total', 7],
    ['metergate_seconds', 1.5e-7],
  ]);
});

// Fault this catches: a renamed metric read as one that never grew.
it('growth of a metric that is not there is an error', () => {
  const [before, after] = [new Map([['a', 2]]), new Map([['a', 5]])];
  expect(growthOf('a', before, after)).toBe(3);
  expect(() => growthOf('b', before, after)).toThrow(/no b/);
});
