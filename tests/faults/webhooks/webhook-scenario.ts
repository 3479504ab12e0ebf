import { type Api, callDone } from '../../support/api.ts';
import { type OpenedInstance, openInstance } from '../../support/open-instance.ts';
import { startSenders } from '../../support/senders.ts';
import {
  type ReceiverOptions,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/webhook-receiver.ts';
import type { FaultOptions } from '../promise.ts';
import { untilResponse } from '../until-response.ts';

/** A Metergate, and a receiver on the same machine that its endpoints lead to. */
export interface WebhookScenario extends OpenedInstance {
  receiver: WebhookReceiver;
}

export async function openWebhookScenario(
  { onEnd }: FaultOptions,
  { connections, ...options }: ReceiverOptions & { connections: number },
): Promise<WebhookScenario> {
  const receiver = await startWebhookReceiver(options);
  onEnd(() => receiver.close());
  const environment = { LOG_LEVEL: 'warn', WEBHOOK_ALLOW_PRIVATE: 'true' };
  const opened = await openInstance(environment, { connections });
  onEnd(opened.close);
  return { ...opened, receiver };
}

/** An endpoint that receives new customers. */
export async function register(api: Api, url: string): Promise<void> {
  await callDone(api, 'POST', '/webhooks/endpoints', { url, events: ['customer.created'] });
}

export interface WorkloadPlan {
  /** Of its keys and names. */
  run: string;
  senders: number;
  /** Between two of a sender. */
  pauseMs?: number;
  onCreated: (customerId: string) => void;
}

export type CustomerWorkload = ReturnType<typeof startCustomerWorkload>;

/** Creates customers continuously, each repeated until its response comes, under one key. */
export function startCustomerWorkload(api: Api, { run, senders, pauseMs = 0, onCreated }: WorkloadPlan) {
  let [requested, responded, requestsRepeated] = [0, 0, 0];

  async function send(): Promise<void> {
    requested += 1;
    const headers = { 'idempotency-key': `${run}-${requested}` };
    const body = JSON.stringify({ name: `${run} ${requested} é✓`, email: `${run}-${requested}@example.com` });
    const { response, repeats } = await untilResponse(
      () => api.call('POST', '/customers', { body, headers }),
      'a new customer',
      ({ status }) => status === 503 || status === 409,
    );
    if (response.status !== 201) throw new Error(`a customer returned ${response.status}`);
    requestsRepeated += repeats;
    responded += 1;
    onCreated((response.body as { id: string }).id);
  }

  const load = startSenders({ senders, pauseMs, send });
  return {
    /** Responses so far. */
    responded: () => responded,
    async stop() {
      await load.stop();
      return { requestsRepeated };
    },
  };
}
