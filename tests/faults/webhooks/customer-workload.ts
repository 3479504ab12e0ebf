import { setTimeout as pass } from 'node:timers/promises';
import type { Api } from '../../support/api.ts';
import type { RunningLoad } from '../../support/during.ts';

/** Creates customers continuously, each repeated until its response comes, under one key. */
export interface CustomerWorkload extends RunningLoad<WorkloadSummary> {
  /** Responses so far. */
  responded(): number;
}

export interface WorkloadSummary {
  requestsRepeated: number;
}

export interface WorkloadPlan {
  /** Of its keys and names. */
  run: string;
  senders: number;
  /** Between two of a sender. */
  pauseMs?: number;
  onCreated: (customerId: string) => void;
}

const PATIENCE_MS = 60_000;
const REPEAT_PAUSE_MS = 25;

export function startCustomerWorkload(
  api: Api,
  { run, senders, pauseMs = 0, onCreated }: WorkloadPlan,
): CustomerWorkload {
  let [requested, responded, requestsRepeated, isOver] = [0, 0, 0, false];

  async function createOne(): Promise<void> {
    requested += 1;
    const headers = { 'idempotency-key': `${run}-${requested}` };
    const body = JSON.stringify({ name: `${run} ${requested} é✓`, email: `${run}-${requested}@example.com` });
    for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await pass(REPEAT_PAUSE_MS)) {
      const response = await api.call('POST', '/customers', { body, headers }).catch(() => undefined);
      if (response?.status === 201) {
        responded += 1;
        onCreated((response.body as { id: string }).id);
        return;
      }
      const isOpen = !response || response.status === 503 || response.status === 409;
      if (!isOpen) throw new Error(`a customer returned ${response.status}`);
      requestsRepeated += 1;
    }
    throw new Error('a customer received no response');
  }

  const sender = async () => {
    while (!isOver) {
      await createOne();
      await pass(pauseMs);
    }
  };
  const done = Promise.all(Array.from({ length: senders }, sender));
  // It is awaited at the stop; a sender that fails before must not end the process.
  done.catch(() => undefined);
  return {
    responded: () => responded,
    async stop() {
      isOver = true;
      await done;
      return { requestsRepeated };
    },
  };
}
