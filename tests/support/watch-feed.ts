import { type StreamMessage, type WatchedStream, watchStream } from './watch-stream.ts';

/** What a client of the feed keeps of one customer. */
export interface FedCustomer {
  status: string;
  otherwise: string | undefined;
  /** By feature, without the time up to which each is counted. */
  decisions: Record<string, Record<string, unknown>>;
}

export interface WatchedFeed extends WatchedStream {
  /** What the events so far add up to, by the name that was asked for. */
  customer(name: string): FedCustomer | undefined;
  lastEventId(): string | undefined;
}

/** A client of the feed, from behind `lastEventId`. Resolves with the head of the response. */
export async function watchFeed(url: string, key: string, lastEventId?: string): Promise<WatchedFeed> {
  const stream = await watchStream(url, {
    authorization: `Bearer ${key}`,
    ...(lastEventId ? { 'last-event-id': lastEventId } : {}),
  });
  const { messages } = stream;
  return {
    ...stream,
    customer: (name) => customerIn(messages, name),
    lastEventId: () => messages.findLast(({ id }) => id !== undefined)?.id,
  };
}

function customerIn(messages: readonly StreamMessage[], name: string): FedCustomer | undefined {
  let customer: FedCustomer | undefined;
  for (const { event, data } of messages) {
    if (data.asked !== name) continue;
    if (event === 'customer') {
      const decisions = data.features.map((one: { decision: object }) => one.decision);
      customer = { status: data.status, otherwise: data.otherwise, decisions: byFeature(decisions) };
    } else if (customer) Object.assign(customer.decisions, byFeature(data.decisions));
  }
  return customer;
}

function byFeature(decisions: Array<{ featureKey?: string; asOf?: string }>) {
  return Object.fromEntries(decisions.map(({ asOf: _, ...rest }) => [rest.featureKey ?? '', rest]));
}
