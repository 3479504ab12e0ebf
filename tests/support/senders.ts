import { setTimeout as pass } from 'node:timers/promises';
import type { RunningLoad } from './during.ts';

export interface SendersOptions<S> {
  senders: number;
  /** Between two requests of a sender. Senders that pause take turns: they start spread over one pause. */
  pauseMs?: number;
  /** One request until its response comes. The first that rejects ends all senders, and `stop` rejects. */
  send: (sender: number) => Promise<void>;
  /** What `stop` resolves with. */
  summary?: S;
}

/** Loops that send until they are stopped. `stop` waits for the requests in flight. */
export function startSenders<S>({ senders, pauseMs = 0, send, summary }: SendersOptions<S>): RunningLoad<S> {
  let isOver = false;

  async function run(sender: number): Promise<void> {
    try {
      if (pauseMs > 0) await pass((pauseMs * sender) / senders);
      while (!isOver) {
        await send(sender);
        if (pauseMs > 0) await pass(pauseMs);
      }
    } catch (error) {
      isOver = true;
      throw error;
    }
  }

  const ended = Promise.allSettled(Array.from({ length: senders }, (_, sender) => run(sender)));
  return {
    async stop() {
      isOver = true;
      for (const end of await ended) if (end.status === 'rejected') throw end.reason;
      return summary as S;
    },
  };
}
