import { performance } from 'node:perf_hooks';
import { isDamage } from '../driver-errors.ts';

/** Notices parts that the embedded engine cannot read any more. */
export interface DamageWatch {
  /** The failure of a statement that reads. */
  lookAt(failure: unknown): void;
}

export interface DamageWatchOptions {
  /** Reported once. */
  onDamage(cause: unknown): void;
  nowMs?: () => number;
}

/** Of a process's life: should a start not detach the part, the next one will not either. */
const LIVED_MS_MIN = 15_000;

/**
 * Only at its start does the engine detach a damaged part, and what it held is then put back from the log:
 * until then every read of it fails, and the load with it. So a process that meets one has to end, if it has
 * lived for a while.
 */
export function createDamageWatch({ onDamage, nowMs = now }: DamageWatchOptions): DamageWatch {
  const bornAtMs = nowMs();
  let notified = false;
  return {
    lookAt(failure) {
      if (notified || !isDamage(failure) || nowMs() - bornAtMs < LIVED_MS_MIN) return;
      notified = true;
      onDamage(failure);
    },
  };
}

function now(): number {
  return performance.now();
}
