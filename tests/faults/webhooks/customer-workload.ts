import type { Api } from '../../support/api.ts';
import type { RunningLoad } from '../../support/during.ts';
import { seenInTime } from '../../support/in-time.ts';
import { startSenders } from '../../support/senders.ts';

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

const PATIENCE = { timeoutMs: 60_000, everyMs: 25 };

export function startCustomerWorkload(
  api: Api,
  { run, senders, pauseMs = 0, onCreated }: WorkloadPlan,
): CustomerWorkload {
  let [requested, responded, requestsRepeated] = [0, 0, 0];

  async function send(): Promise<void> {
    requested += 1;
    const headers = { 'idempotency-key': `${run}-${requested}` };
    const body = JSON.stringify({ name: `${run} ${requested} é✓`, email: `${run}-${requested}@example.com` });
    const create = async () => {
      const response = await api.call('POST', '/customers', { body, headers }).catch(() => undefined);
      if (response?.status === 201) return (response.body as { id: string }).id;
      const isOpen = !response || response.status === 503 || response.status === 409;
      if (!isOpen) throw new Error(`a customer returned ${response.status}`);
      requestsRepeated += 1;
      return undefined;
    };
    const id = await seenInTime(create, PATIENCE, 'the response to a new customer');
    responded += 1;
    onCreated(id);
  }

  const load = startSenders({ senders, pauseMs, send });
  return {
    responded: () => responded,
    async stop() {
      await load.stop();
      return { requestsRepeated };
    },
  };
}
