import { ofThisFile } from '../../tests/support/of-this-file.ts';
import { type ApiUnderTest, startApi } from '../api-under-test.ts';
import { type EmittedEvent, eventText, signatureOf } from './stripe-under-test.ts';

const SECRET = 'whsec_under_test';
export const NOW_MS = Date.UTC(2026, 5, 2);

// biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects; the schema is checked
type Shown = any;
type ShownEvent = Shown;

/** An API that takes events of the processor in both modes, and a clock that a test moves. */
async function startProcessor() {
  const clock = { ms: NOW_MS };
  const api = await startApi(undefined, {
    clock: { nowMs: () => clock.ms, monotonicMs: () => performance.now() },
  });
  for (const key of [api.keys.live.secret, api.keys.test.secret]) {
    await api.request('connectProcessor', { key, body: { action: 'set_webhook_secret', secret: SECRET } });
  }
  const made = makers(api);
  const [customerId, planId] = [await made.customer(), await made.plan()];
  const bodyOf = async (
    requested: Promise<{ status: number; body: Shown; text: string }>,
  ): Promise<Shown> => {
    const { status, body, text } = await requested;
    if (status >= 300) throw new Error(`${status} ${text}`);
    return body;
  };
  /** To the path of the event's own mode by default. */
  const send = (notified: EmittedEvent, mode = notified.livemode === false ? 'test' : 'live') => {
    const payload = eventText(notified);
    const signature = signatureOf(payload, { secret: SECRET, atMs: clock.ms });
    return api.call('POST', `/api/v1/integrations/processor/webhooks/${api.keys.workspaceId}/${mode}`, {
      key: undefined,
      body: payload,
      headers: { 'stripe-signature': signature },
    });
  };
  const events = async (query: Record<string, string | number> = {}): Promise<ShownEvent[]> =>
    (await bodyOf(api.request('processor.listEvents', { query: { pageSize: 100, ...query } }))).data;
  const read = (subscriptionId: string) =>
    bodyOf(api.request('subscriptions.retrieve', { params: { subscriptionId } }));
  return {
    api,
    clock,
    /** Seconds from now, in the processor's unit. */
    at: (seconds: number) => Math.floor(clock.ms / 1000) + seconds,
    ...made,
    /** For the plan and customer that are created first, unless `fields` has others. */
    subscribe: (fields: object = {}) =>
      bodyOf(api.request('subscriptions.create', { body: { customerId, planId, ...fields } })),
    read,
    patch: (subscriptionId: string, body: object) =>
      bodyOf(api.request('subscriptions.update', { params: { subscriptionId }, body })),
    cancel: (subscriptionId: string) =>
      bodyOf(api.request('subscriptions.cancel', { params: { subscriptionId }, body: {} })),
    /** The subscriptions here that are linked to this one of the processor. */
    linkedTo: async (processorSubscriptionId: string): Promise<Shown[]> =>
      (await bodyOf(api.request('subscriptions.list', { query: { processorSubscriptionId } }))).data,
    send,
    /** The same, and expects success. */
    async notify(notified: EmittedEvent) {
      await bodyOf(send(notified));
    },
    events,
    /** Of one subscription of the processor: the outcomes of its events, oldest first. */
    outcomes: async (processorSubscriptionId: string): Promise<string[]> =>
      (await events({ processorSubscriptionId }))
        .map(({ status, reasons }: ShownEvent) => [status, ...reasons].join(' '))
        .reverse(),
    apply: (processorEventId: string): Promise<ShownEvent> =>
      bodyOf(api.request('processor.applyEvent', { params: { processorEventId } })),
  };
}

/** One that all tests of a file share. */
export function processorOfThisFile() {
  return ofThisFile(startProcessor(), ({ api }) => api.close());
}

function makers(api: ApiUnderTest) {
  let made = 0;
  const idOf = async (requested: Promise<{ body: { id: string }; status: number; text: string }>) => {
    const { body, status, text } = await requested;
    if (status !== 201) throw new Error(`${status} ${text}`);
    return body.id;
  };
  return {
    customer: (fields: object = {}) =>
      idOf(api.request('customers.create', { body: { name: 'Ada', email: 'ada@example.com', ...fields } })),
    plan: (fields: object = {}) =>
      idOf(api.request('createPlan', { body: { productId: 'p', name: 'Plan', ...fields } })),
    addon: (fields: object = {}) => {
      made += 1;
      return idOf(api.request('addons.create', { body: { key: `addon-${made}`, name: 'Seats', ...fields } }));
    },
  };
}
