import { performance } from 'node:perf_hooks';
import { isDamage } from './driver-errors.ts';

/** Notices parts that the embedded engine cannot read any more. */
export interface DamageWatch {
  /** The failure of a statement that reads. */
  lookAt(failure: unknown): void;
}

export interface DamageWatchOptions {
  /** Gives how many parts were set aside. */
  setAside(): Promise<number>;
  /** Told once: nothing was found that could be set aside. */
  onDamage(cause: unknown): void;
  nowMs?: () => number;
}

/** Of a process's life: should a start not mend it, the next one will not either. */
const LIVED_MS_MIN = 15_000;
const AGAIN_AFTER_MS = 10_000;

/**
 * Every read that meets a damaged part fails, and the load with it: the part has to be set aside. Where that
 * finds none the process has to end, if it has lived for a while: at its start the engine looks once more.
 */
export function createDamageWatch({ setAside, onDamage, nowMs = now }: DamageWatchOptions): DamageWatch {
  const bornAtMs = nowMs();
  let told = false;
  let nextAtMs = bornAtMs;

  async function mend(cause: unknown): Promise<void> {
    nextAtMs = Number.POSITIVE_INFINITY;
    const parts = await setAside().catch(() => 0);
    nextAtMs = nowMs() + AGAIN_AFTER_MS;
    if (parts > 0 || told || nowMs() - bornAtMs < LIVED_MS_MIN) return;
    told = true;
    onDamage(cause);
  }

  return {
    lookAt(failure) {
      if (isDamage(failure) && nowMs() >= nextAtMs) void mend(failure);
    },
  };
}

function now(): number {
  return performance.now();
}
