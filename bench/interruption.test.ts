import { setTimeout as pass } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Interrupted, unlessAborted } from './interruption.ts';

const never = new Promise<never>(() => undefined);

describe('what is begun', () => {
  it('is waited for until a signal interrupts it', async () => {
    expect(await unlessAborted(pass(10, 'done'), new AbortController().signal)).toBe('done');
  });

  // Fault this catches: the suite waits for a part that ignores the signal, and cannot be interrupted.
  it('is left as soon as it is interrupted', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 10);
    await expect(unlessAborted(never, controller.signal)).rejects.toThrow(Interrupted);
    await expect(unlessAborted(never, controller.signal)).rejects.toThrow(Interrupted);
  });

  it('may still end by itself where it is given time for that', async () => {
    const controller = new AbortController();
    controller.abort();
    expect(await unlessAborted(pass(10, 'done'), controller.signal, 10_000)).toBe('done');
    await expect(unlessAborted(never, controller.signal, 10)).rejects.toThrow(Interrupted);
  });

  it('may fail unheard once it was left', async () => {
    const failing = pass(10).then(() => Promise.reject(new Error('late')));
    await expect(unlessAborted(failing, AbortSignal.abort())).rejects.toThrow(Interrupted);
    await pass(20);
  });
});
