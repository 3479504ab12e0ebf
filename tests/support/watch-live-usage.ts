import { request } from 'undici';
import { expect, onTestFinished } from 'vitest';

/** A server-sent event of the live stream. */
export interface LiveMessage {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects
  data: any;
}

/** A stream that reads all that comes, until its test is over. */
export interface WatchedStream {
  readonly messages: LiveMessage[];
  /** Of the events, in the order in which they came. */
  ids(): string[];
  /** Of each `sampled`. */
  leftOut(): number[];
  isOver(): boolean;
  close(): Promise<void>;
}

/** Resolves with the head of the response. `url` is the operation's, with its query. */
export async function watchLiveUsage(url: string, key: string): Promise<WatchedStream> {
  const abort = new AbortController();
  const { statusCode, headers, body } = await request(url, {
    headers: { authorization: `Bearer ${key}` },
    signal: abort.signal,
  });
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/event-stream']);
  const messages: LiveMessage[] = [];
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
  const dataOf = (name: string) => messages.flatMap(({ event, data }) => (event === name ? [data] : []));
  return {
    messages,
    ids: () => dataOf('usage').map(({ id }) => id),
    leftOut: () => dataOf('sampled').map(({ leftOut }) => leftOut),
    isOver: () => isOver,
    close,
  };
}

async function read(body: AsyncIterable<unknown>, messages: LiveMessage[]): Promise<void> {
  let rest = '';
  for await (const chunk of body) {
    const blocks = (rest + String(chunk)).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      if (event !== '') messages.push({ event, data: JSON.parse(data) });
    }
  }
}
