import { type Api, callDone } from '../../support/api.ts';
import { type OpenedInstance, openInstance } from '../../support/open-instance.ts';
import {
  type ReceiverOptions,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/webhook-receiver.ts';

/** A Metergate, and a receiver on the same machine that its endpoints lead to. */
export interface WebhookScenario extends OpenedInstance {
  receiver: WebhookReceiver;
}

export interface ScenarioOptions extends ReceiverOptions {
  connections: number;
}

/** What was started is ended when it rejects. */
export async function openWebhookScenario({
  connections,
  ...options
}: ScenarioOptions): Promise<WebhookScenario> {
  const receiver = await startWebhookReceiver(options);
  try {
    const environment = { LOG_LEVEL: 'warn', WEBHOOK_ALLOW_PRIVATE: 'true' };
    const opened = await openInstance(environment, { connections });
    return {
      ...opened,
      receiver,
      async close(how) {
        const left = await opened.close(how);
        await receiver.close();
        return left;
      },
    };
  } catch (error) {
    await receiver.close();
    throw error;
  }
}

/** An endpoint that receives new customers. */
export async function register(api: Api, url: string): Promise<void> {
  await callDone(api, 'POST', '/webhooks/endpoints', { url, events: ['customer.created'] });
}
