import { describe, expect, it } from 'vitest';
import type { Api, ApiResponse } from '../../tests/support/api.ts';
import { parseExact } from '../../tests/support/exact.ts';
import { judgeRun } from './judge-run.ts';
import { createResponseLedger } from './response-ledger.ts';

const COUNTED = parseExact('{"current":1,"total":1,"breakdown":[{"count":7}]}');
const READ: ApiResponse = { status: 200, headers: {}, body: COUNTED };
const UNAVAILABLE: ApiResponse = { status: 503, headers: {}, body: undefined };

/** One event of 1 was acknowledged. */
function runOf(call: () => Promise<ApiResponse>, interrupted: AbortSignal) {
  const ledger = createResponseLedger(2);
  for (const tally of ledger.tallies()) tally.acknowledged = { events: 1, thousandths: 1_000 };
  const api: Api = { call, close: async () => undefined };
  const common = { api, ledger, customers: ['a', 'b'], meterKey: 'm', startedAtMs: Date.now() };
  return { ...common, interrupted, hurriedMs: 20 };
}

describe('the judging of a run', () => {
  it('reports what is wrong', async () => {
    const judgement = await judgeRun(runOf(async () => READ, new AbortController().signal));
    expect(judgement).toMatchObject({ outcome: 'wrong' });
    expect(judgement.problems[0]).toBe('a: 7 events are counted, 1 were acknowledged');
  });

  it('takes counters that cannot be read for a problem, and keeps all else', async () => {
    const failing = async () => ({ ...UNAVAILABLE, status: 500 });
    const judgement = await judgeRun(runOf(failing, new AbortController().signal));
    expect(judgement).toMatchObject({ outcome: 'not read', problems: [expect.stringContaining('500')] });
  });

  // Fault this catches: an interrupted run still waits two minutes, and exits with 1 though nothing is wrong.
  it('ends soon after an interruption, and does not report that as a fault', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    const judgement = await judgeRun(runOf(async () => UNAVAILABLE, controller.signal));
    expect(judgement).toEqual({ outcome: 'not judged', problems: [] });
    const hanging = () => new Promise<never>(() => undefined);
    expect(await judgeRun(runOf(hanging, controller.signal))).toMatchObject({ outcome: 'not judged' });
  });

  it('reports what it had found wrong before it was interrupted', async () => {
    let requested = 0;
    const half = async () => (requested++ < 3 ? READ : UNAVAILABLE);
    expect(await judgeRun(runOf(half, AbortSignal.abort()))).toMatchObject({ outcome: 'wrong' });
  });
});
