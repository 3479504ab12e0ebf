import { request } from 'undici';
import { expect, onTestFinished } from 'vitest';

export interface FeedMessage {
  event: string;
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects
  data: any;
}

/** What a client of the feed keeps of one customer. */
export interface FedCustomer {
  status: string;
  otherwise: string | undefined;
  /** By feature, without the time up to which each is counted. */
  decisions: Record<string, Record<string, unknown>>;
}

export interface WatchedFeed {
  readonly messages: FeedMessage[];
  /** What the events so far add up to, by the name that was asked for. */
  customer(name: string): FedCustomer | undefined;
  lastEventId(): string | undefined;
  isOver(): boolean;
  close(): Promise<void>;
}

/** A client that reads all that comes, until its test is over. Resolves with the head of the response. */
export async function watchFeed(url: string, key: string, lastEventId?: string): Promise<WatchedFeed> {
  const abort = new AbortController();
  const { statusCode, headers, body } = await request(url, {
    headers: { authorization: `Bearer ${key}`, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
    signal: abort.signal,
  });
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/event-stream']);
  const messages: FeedMessage[] = [];
  let isOver = false;
  const over = read(body, messages)
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  const close = async () => {
    abort.abort();
    await over;
  };
  onTestFinished(close);
  return {
    messages,
    customer: (name) => customerIn(messages, name),
    lastEventId: () => messages.findLast(({ id }) => id !== undefined)?.id,
    isOver: () => isOver,
    close,
  };
}

function customerIn(messages: readonly FeedMessage[], name: string): FedCustomer | undefined {
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

async function read(body: AsyncIterable<unknown>, messages: FeedMessage[]): Promise<void> {
  let rest = '';
  for await (const chunk of body) {
    const blocks = (rest + String(chunk)).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id, event = '', data = ''] = /^(?:id: (.*)\n)?event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      if (event !== '') messages.push({ event, id, data: JSON.parse(data) });
    }
  }
}
