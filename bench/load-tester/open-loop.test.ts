import { setTimeout as pass } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLoadBody } from '../../tests/support/load-body.ts';
import type { LoadResponse } from '../../tests/support/load-connection.ts';
import { latencies } from './latencies.ts';
import { createHistogram, runOpenLoop } from './open-loop.ts';
import { createResponseLedger } from './response-ledger.ts';

const body = () =>
  createLoadBody({
    host: 'h',
    key: 'k',
    customers: ['cus_a'],
    meterKeys: ['m'],
    batch: 1,
    properties: [],
    nowMs: Date.UTC(2026, 10, 22),
    seed: 1,
    keyPrefix: 'r-',
  });

const CREATED: LoadResponse = { status: 201, replayed: false, body: Buffer.from('{}') };

function loopOf(ask: () => Promise<LoadResponse>) {
  const ledger = createResponseLedger(1);
  const histogram = createHistogram();
  const controller = new AbortController();
  const senders = [
    { connection: { open: async () => undefined, ask, close: () => undefined }, bodies: [body()] },
  ];
  const common = { senders, ledger, histogram, interrupted: controller.signal };
  return { common, ledger, histogram, interrupt: () => controller.abort() };
}

describe('the open loop', () => {
  // Fault this catches: times that begin with the sending. One stall of 200 ms would then be one slow
  // request of 40; here all that fell due meanwhile have waited too.
  it('counts what fell due while the server was stopped', async () => {
    let requested = 0;
    const { common, histogram } = loopOf(async () => {
      if (requested++ === 0) await pass(200);
      return CREATED;
    });
    const result = await runOpenLoop({ ...common, intervalMs: 10, durationMs: 400 });
    expect(result).toMatchObject({ requests: 40, notSent: 0, repeated: {} });
    expect(latencies(histogram).p75).toBeGreaterThan(40);
  });

  it('says what could not be sent at all, and has its waiting counted', async () => {
    const { common, histogram } = loopOf(async () => {
      await pass(300);
      return CREATED;
    });
    const result = await runOpenLoop({ ...common, intervalMs: 10, durationMs: 100 });
    expect(result.requests + result.notSent).toBe(10);
    expect(result.notSent).toBeGreaterThan(5);
    expect(histogram.totalCount).toBe(10);
  });

  it('repeats a request after a 503 or no response, and counts it once', async () => {
    const outcomes = [503, 'lost', 201] as const;
    let requested = 0;
    const { common, ledger } = loopOf(async () => {
      const outcome = outcomes[requested++] ?? 201;
      if (outcome === 'lost') throw new Error('reset');
      return { ...CREATED, status: outcome };
    });
    const result = await runOpenLoop({ ...common, intervalMs: 1_000, durationMs: 500 });
    expect(result.repeated).toEqual({ 503: 1, 'no response': 1 });
    expect(ledger.counts()).toMatchObject({ created: 1, withoutResponse: 0 });
    expect(ledger.faults()).toEqual([]);
  });

  it('reports requests that never received a response', async () => {
    const { common, interrupt } = loopOf(async () => {
      setTimeout(interrupt, 120);
      throw new Error('reset');
    });
    const result = await runOpenLoop({ ...common, intervalMs: 1_000, durationMs: 500 });
    expect(result).toMatchObject({ givenUp: 1, lastFailure: 'reset' });
  });

  it('keeps apart what was lost when it is interrupted', async () => {
    const { common, ledger, interrupt } = loopOf(async () => {
      interrupt();
      throw new Error('reset');
    });
    await runOpenLoop({ ...common, intervalMs: 10, durationMs: 10_000 });
    expect(ledger.counts()).toMatchObject({ created: 0, withoutResponse: 1 });
  });

  // Fault this catches: the end drops requests that wait. A user who interrupts a stall would see none.
  it('counts what was overdue when it is interrupted, and not what was to come', async () => {
    const { common, histogram, interrupt } = loopOf(async () => {
      await pass(200);
      interrupt();
      return CREATED;
    });
    const result = await runOpenLoop({ ...common, intervalMs: 10, durationMs: 10_000 });
    expect(result.requests).toBe(1);
    expect(result.notSent).toBeGreaterThan(15);
    expect(result.notSent).toBeLessThan(100);
    expect(histogram.totalCount).toBe(1 + result.notSent);
    expect(latencies(histogram).p50).toBeGreaterThan(50);
  });

  it('leaves out what was not due yet when it is interrupted', async () => {
    const { common, histogram, interrupt } = loopOf(async () => {
      setTimeout(interrupt, 20);
      return CREATED;
    });
    const result = await runOpenLoop({ ...common, intervalMs: 5_000, durationMs: 60_000 });
    expect(result).toMatchObject({ requests: 1, notSent: 0 });
    expect(histogram.totalCount).toBe(1);
  });

  it('has room for a wait as long as any run', () => {
    const histogram = createHistogram();
    histogram.recordValue(86_400_000_000);
    expect(latencies(histogram).max).toBeCloseTo(86_400_000, -5);
  });
});
