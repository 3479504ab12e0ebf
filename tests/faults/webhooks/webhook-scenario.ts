import { type Api, createApi, type Method } from '../../support/api.ts';
import { type Instance, startInstance } from '../../support/instance.ts';
import {
  type ReceiverOptions,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/webhook-receiver.ts';

/** A Metergate, and a receiver on the same machine that its endpoints lead to. */
export interface WebhookScenario {
  instance: Instance;
  api: Api;
  receiver: WebhookReceiver;
  close(options: { keep: boolean }): Promise<string | undefined>;
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
    const instance = await startInstance({ LOG_LEVEL: 'warn', WEBHOOK_ALLOW_PRIVATE: 'true' });
    const api = createApi({ origin: instance.origin, key: instance.keys().live.secret, connections });
    return {
      ...{ instance, api, receiver },
      async close({ keep }) {
        await api.close();
        const left = keep ? await instance.leave() : await instance.remove();
        await receiver.close();
        return left ?? undefined;
      },
    };
  } catch (error) {
    await receiver.close();
    throw error;
  }
}

/** An endpoint that receives new customers. */
export async function register(api: Api, url: string): Promise<void> {
  await expectResponse(api, 'POST', '/webhooks/endpoints', { url, events: ['customer.created'] });
}

async function expectResponse(api: Api, method: Method, path: string, body: object): Promise<void> {
  const response = await api.call(method, path, { body: JSON.stringify(body) });
  if (response.status < 300) return;
  throw new Error(`${method} ${path} returned ${response.status} ${JSON.stringify(response.body)}`);
}
