import { ofThisFile } from '../../tests/support/of-this-file.ts';
import { type ApiUnderTest, startApi } from '../api-under-test.ts';
import type { AppOptions } from '../app.ts';
import { type EmittedEvent, eventText, signatureOf } from './stripe-under-test.ts';

const SECRET = 'whsec_under_test';
export const NOW_MS = Date.UTC(2026, 5, 2);

/** An API that takes events of the processor in both modes, and a clock that a test moves. */
export interface ProcessorUnderTest {
  api: ApiUnderTest;
  clock: { ms: number };
  /** Seconds from now, in the processor's unit. */
  at(seconds: number): number;
  customer(fields?: object): Promise<string>;
  plan(fields?: object): Promise<string>;
  addon(fields?: object): Promise<string>;
  /** For the plan and customer that are created first, unless `fields` has others. */
  subscribe(fields?: object): Promise<Shown>;
  read(subscriptionId: string): Promise<Shown>;
  patch(subscriptionId: string, body: object): Promise<Shown>;
  cancel(subscriptionId: string): Promise<Shown>;
  /** The subscriptions here that are linked to this one of the processor. */
  linkedTo(processorSubscriptionId: string): Promise<Shown[]>;
  /** To the path of the event's own mode by default. */
  send(notified: EmittedEvent, mode?: 'live' | 'test'): ReturnType<ApiUnderTest['call']>;
  /** The same, and expects success. */
  notify(notified: EmittedEvent): Promise<void>;
  events(query?: Record<string, string | number>): Promise<ShownEvent[]>;
  /** Of one subscription of the processor: the outcomes of its events, oldest first. */
  outcomes(processorSubscriptionId: string): Promise<string[]>;
  apply(processorEventId: string): Promise<ShownEvent>;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects; the schema is checked
type Shown = any;
type ShownEvent = Shown;

async function startProcessor(options: AppOptions = {}): Promise<ProcessorUnderTest> {
  const clock = { ms: NOW_MS };
  const api = await startApi(undefined, {
    ...options,
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
  const send: ProcessorUnderTest['send'] = (
    notified,
    mode = notified.livemode === false ? 'test' : 'live',
  ) => {
    const payload = eventText(notified);
    const signature = signatureOf(payload, { secret: SECRET, atMs: clock.ms });
    return api.call('POST', `/api/v1/integrations/processor/webhooks/${api.keys.workspaceId}/${mode}`, {
      key: undefined,
      body: payload,
      headers: { 'stripe-signature': signature },
    });
  };
  const events: ProcessorUnderTest['events'] = async (query = {}) =>
    (await bodyOf(api.request('processor.listEvents', { query: { pageSize: 100, ...query } }))).data;
  const read = (subscriptionId: string) =>
    bodyOf(api.request('subscriptions.retrieve', { params: { subscriptionId } }));
  return {
    api,
    clock,
    at: (seconds) => Math.floor(clock.ms / 1000) + seconds,
    ...made,
    subscribe: (fields = {}) =>
      bodyOf(api.request('subscriptions.create', { body: { customerId, planId, ...fields } })),
    read,
    patch: (subscriptionId, body) =>
      bodyOf(api.request('subscriptions.update', { params: { subscriptionId }, body })),
    cancel: (subscriptionId) =>
      bodyOf(api.request('subscriptions.cancel', { params: { subscriptionId }, body: {} })),
    linkedTo: async (processorSubscriptionId) =>
      (await bodyOf(api.request('subscriptions.list', { query: { processorSubscriptionId } }))).data,
    send,
    async notify(notified) {
      await bodyOf(send(notified));
    },
    events,
    outcomes: async (processorSubscriptionId) =>
      (await events({ processorSubscriptionId }))
        .map(({ status, reasons }: ShownEvent) => [status, ...reasons].join(' '))
        .reverse(),
    apply: (processorEventId) =>
      bodyOf(api.request('processor.applyEvent', { params: { processorEventId } })),
  };
}

/** One that all tests of a file share. */
export function processorOfThisFile(): Promise<ProcessorUnderTest> {
  return ofThisFile(startProcessor(), ({ api }) => api.close());
}

function makers(api: ApiUnderTest): Pick<ProcessorUnderTest, 'customer' | 'plan' | 'addon'> {
  let made = 0;
  const idOf = async (requested: Promise<{ body: { id: string }; status: number; text: string }>) => {
    const { body, status, text } = await requested;
    if (status !== 201) throw new Error(`${status} ${text}`);
    return body.id;
  };
  return {
    customer: (fields = {}) =>
      idOf(api.request('customers.create', { body: { name: 'Ada', email: 'ada@example.com', ...fields } })),
    plan: (fields = {}) =>
      idOf(api.request('createPlan', { body: { productId: 'p', name: 'Plan', ...fields } })),
    addon: (fields = {}) => {
      made += 1;
      return idOf(api.request('addons.create', { body: { key: `addon-${made}`, name: 'Seats', ...fields } }));
    },
  };
}
