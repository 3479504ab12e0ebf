import { setTimeout as pass } from 'node:timers/promises';
import type { Api } from '../../support/api.ts';
import type { Beside } from '../../support/during.ts';

/** Customers that are created without a break, each asked for until it is answered, under one key. */
export interface CustomerStorm extends Beside<StormSummary> {
  /** Answers so far. */
  answered(): number;
}

export interface StormSummary {
  requestsRepeated: number;
}

export interface StormPlan {
  /** Of its keys and names. */
  run: string;
  lanes: number;
  /** Between two of a lane. */
  pauseMs?: number;
  onCreated: (customerId: string) => void;
}

const PATIENCE_MS = 60_000;
const REPEAT_PAUSE_MS = 25;

export function startCustomerStorm(
  api: Api,
  { run, lanes, pauseMs = 0, onCreated }: StormPlan,
): CustomerStorm {
  let [asked, answered, requestsRepeated, isOver] = [0, 0, 0, false];

  async function createOne(): Promise<void> {
    asked += 1;
    const headers = { 'idempotency-key': `${run}-${asked}` };
    const body = JSON.stringify({ name: `${run} ${asked} é✓`, email: `${run}-${asked}@example.com` });
    for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await pass(REPEAT_PAUSE_MS)) {
      const answer = await api.call('POST', '/customers', { body, headers }).catch(() => undefined);
      if (answer?.status === 201) {
        answered += 1;
        onCreated((answer.body as { id: string }).id);
        return;
      }
      const isOpen = !answer || answer.status === 503 || answer.status === 409;
      if (!isOpen) throw new Error(`a customer was answered ${answer.status}`);
      requestsRepeated += 1;
    }
    throw new Error('a customer found no answer');
  }

  const lane = async () => {
    while (!isOver) {
      await createOne();
      await pass(pauseMs);
    }
  };
  const done = Promise.all(Array.from({ length: lanes }, lane));
  // It is awaited at the stop; a lane that fails before is not to end the process.
  done.catch(() => undefined);
  return {
    answered: () => answered,
    async stop() {
      isOver = true;
      await done;
      return { requestsRepeated };
    },
  };
}
