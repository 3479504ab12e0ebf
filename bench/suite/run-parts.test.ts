import { setTimeout as pass } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runParts } from './run-parts.ts';

const NAMES = ['a', 'b', 'c'];

function runOf(act: (name: string) => Promise<void>, graceMs: Record<string, number> = {}) {
  const controller = new AbortController();
  const begun: string[] = [];
  const begin = async (name: string): Promise<void> => {
    begun.push(name);
    await act(name);
  };
  const run = { begin, graceMs, interrupted: controller.signal, say: () => undefined };
  return { run, begun, interrupt: () => controller.abort() };
}

describe('the parts of a suite', () => {
  it('are all run, whichever of them fails', async () => {
    const { run, begun } = runOf(async (name) => {
      if (name === 'b') throw new Error('no\nmore');
    });
    const result = { seconds: {}, failed: {} };
    await runParts(NAMES, run, result);
    expect(begun).toEqual(NAMES);
    expect(result).toEqual({ seconds: { a: 0, b: 0, c: 0 }, failed: { b: 'no' } });
  });

  // Fault this catches: an interruption loses the results of the earlier parts.
  it('stop at an interruption, and report what there is', async () => {
    const { run, begun, interrupt } = runOf(async (name) => {
      if (name !== 'b') return;
      setTimeout(interrupt, 10);
      await new Promise<never>(() => undefined);
    });
    const result = { seconds: {}, failed: {} };
    await runParts(NAMES, run, result);
    expect(begun).toEqual(['a', 'b']);
    expect(result).toEqual({ seconds: { a: 0, b: 0 }, failed: { b: 'interrupted' }, interrupted: true });
  });

  it('may end by themselves on an interruption', async () => {
    const ended: string[] = [];
    const act = async (name: string): Promise<void> => {
      interrupt();
      await pass(10);
      ended.push(name);
    };
    const { run, interrupt } = runOf(act, { a: 10_000 });
    const result = { seconds: {}, failed: {} };
    await runParts(NAMES, run, result);
    expect(ended).toEqual(['a']);
    expect(result).toEqual({ seconds: { a: 0 }, failed: {}, interrupted: true });
  });
});
