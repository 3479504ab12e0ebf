import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** Something that was opened. Either step may be left out. */
export interface Closable {
  /** Takes nothing new and finishes what was begun. */
  drain?: () => unknown;
  /** Releases it. */
  close?: () => unknown;
}

export interface Closer {
  /** In the order of opening. */
  add(name: string, closable: Closable): void;
  /** Drains all, then closes all, each in the reverse order of opening. Never throws; happens once. */
  close(): Promise<void>;
}

export interface CloserOptions {
  /** For one step of one closer; it is left behind after that. */
  stepTimeoutMs?: number;
}

/** The whole stop may take 15 s; a process has a handful of closers and most take milliseconds. */
const STEP_TIMEOUT_MS = 5_000;

/** Collects what a process has opened and ends it in two steps. What fails or hangs is logged. */
export function createCloser(log: Logger, { stepTimeoutMs = STEP_TIMEOUT_MS }: CloserOptions = {}): Closer {
  const opened: Array<{ name: string; closable: Closable }> = [];
  let closed: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    const newestFirst = opened.toReversed();
    for (const step of ['drain', 'close'] as const) {
      for (const { name, closable } of newestFirst) await take(step, name, closable);
    }
  }

  async function take(step: 'drain' | 'close', name: string, closable: Closable): Promise<void> {
    const timer = new AbortController();
    const late = delay(stepTimeoutMs, 'late' as const, { signal: timer.signal }).catch(() => undefined);
    try {
      const outcome = await Promise.race([Promise.resolve(closable[step]?.()), late]);
      if (outcome === 'late') log.warn({ name, step, stepTimeoutMs }, 'a step of the stop takes too long');
    } catch (err) {
      log.warn({ name, step, err }, 'a step of the stop failed');
    } finally {
      timer.abort();
    }
  }

  return {
    add: (name, closable) => void opened.push({ name, closable }),
    close: () => {
      closed ??= closeAll();
      return closed;
    },
  };
}
