import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterAttempt, type Circuit, CLOSED, isGivenUp } from './circuit.ts';

const START_MS = Date.UTC(2026, 0, 31);
const DAY_MS = 86_400_000;
const middle = () => 0.5;

function failed(circuit: Circuit, times: number, { isProbe = false, atMs = START_MS } = {}): Circuit {
  let next = circuit;
  for (let n = 0; n < times; n += 1) {
    const ended = { isSuccess: false, isProbe, endedAtMs: atMs, errorCode: 'timeout' } as const;
    next = afterAttempt(next, ended, middle);
  }
  return next;
}

/* Red when it opens with another failure, when a pause is another one, or when a straggler puts it off. */
describe('a circuit', () => {
  it('opens with the tenth failure in a row', () => {
    expect(failed(CLOSED, 9).untilMs).toBeUndefined();
    expect(failed(CLOSED, 10)).toEqual({
      failures: 10,
      failingSinceMs: START_MS,
      untilMs: START_MS + 5_000,
      probes: 0,
      lastStatus: undefined,
      lastError: 'timeout',
    });
  });

  it('is tried after 5 s, then after twice as long each time, up to 5 minutes', () => {
    let circuit = failed(CLOSED, 10);
    const pauses: number[] = [];
    for (let probe = 0; probe < 8; probe += 1) {
      const atMs = circuit.untilMs ?? 0;
      circuit = failed(circuit, 1, { isProbe: true, atMs });
      pauses.push(((circuit.untilMs ?? 0) - atMs) / 1_000);
    }
    expect(pauses).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('that is open is not extended by attempts that were running', () => {
    const open = failed(CLOSED, 10);
    expect(failed(open, 4, { atMs: START_MS + 1_000 })).toEqual({ ...open, failures: 14 });
  });

  it('closes with one success, and has forgotten everything', () => {
    const ended = { isSuccess: true, isProbe: true, endedAtMs: START_MS };
    expect(afterAttempt(failed(CLOSED, 12), ended, middle)).toEqual(CLOSED);
  });

  it('pauses for a fifth more or less than that', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (random) => {
        const ended = { isSuccess: false, isProbe: false, endedAtMs: START_MS };
        const { untilMs = 0 } = afterAttempt(failed(CLOSED, 9), ended, () => random);
        expect(untilMs - START_MS).toBeGreaterThanOrEqual(4_000);
        expect(untilMs - START_MS).toBeLessThanOrEqual(6_000);
      }),
    );
  });
});

it('an endpoint is given up with a failure five days after the first in a row, and no sooner', () => {
  const failing = failed(CLOSED, 3);
  expect(isGivenUp(failing, START_MS + 5 * DAY_MS - 1)).toBe(false);
  expect(isGivenUp(failing, START_MS + 5 * DAY_MS)).toBe(true);
  expect(isGivenUp(CLOSED, START_MS)).toBe(false);
});
