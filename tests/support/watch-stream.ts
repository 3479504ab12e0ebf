import { request } from 'undici';
import { expect, onTestFinished } from 'vitest';

/** A server-sent event. */
export interface StreamMessage {
  event: string;
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects
  data: any;
}

/** A client that reads all that comes, until its test is over. */
export interface WatchedStream {
  readonly messages: StreamMessage[];
  isOver(): boolean;
  close(): Promise<void>;
}

/** Resolves with the head of the response, which is a stream. */
export async function watchStream(url: string, headers: Record<string, string>): Promise<WatchedStream> {
  const abort = new AbortController();
  const response = await request(url, { headers, signal: abort.signal });
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream']);
  const messages: StreamMessage[] = [];
  let isOver = false;
  const over = read(response.body, messages)
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  const close = async () => {
    abort.abort();
    await over;
  };
  onTestFinished(close);
  return { messages, isOver: () => isOver, close };
}

async function read(body: AsyncIterable<unknown>, messages: StreamMessage[]): Promise<void> {
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
