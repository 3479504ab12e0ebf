import { expect, it, onTestFinished } from 'vitest';
import type { UsageEvent } from '../meter/usage-event.ts';
import { type MeteredStream, meterStream } from './meter-stream.ts';

interface Chunk {
  text: string;
  usage?: { input: number; output: number };
}

const CHUNKS: Chunk[] = [{ text: 'a' }, { text: 'b' }, { text: 'c', usage: { input: 7, output: 3 } }];

/** A stream that breaks off after so many chunks. */
async function* model(failsAfter = CHUNKS.length): AsyncGenerator<Chunk> {
  yield* CHUNKS.slice(0, failsAfter);
  if (failsAfter < CHUNKS.length) throw new Error('broken off');
}

function metered(stream: AsyncIterable<Chunk>, more: Partial<MeteredStream<Chunk>> = {}) {
  const events: UsageEvent[] = [];
  const chunks = meterStream({
    meter: { track: (event) => events.push(event) > 0 },
    stream,
    tokensOf: ({ usage }) => usage,
    estimate: (count) => ({ input: 0, output: count }),
    event: { customerId: 'acme', meterId: 'tokens', idempotencyKey: 'call-1', properties: { model: 'm' } },
    ...more,
  });
  return { chunks, events };
}

const event = (kind: string, value: number) => ({
  customerId: 'acme',
  meterId: 'tokens',
  idempotencyKey: `call-1:${kind}`,
  value,
  properties: { model: 'm', kind },
});

it('counts what the model says, each kind of token by itself', async () => {
  const { chunks, events } = metered(model());
  let text = '';
  for await (const chunk of chunks) text += chunk.text;
  expect([text, events]).toEqual(['abc', [event('input', 7), event('output', 3)]]);
});

it('counts an estimate when the caller does not read on, or the model breaks off', async () => {
  const aborted = metered(model());
  for await (const _ of aborted.chunks) break;
  const broken = metered(model(2));
  const read = async () => {
    for await (const _ of broken.chunks);
  };
  await expect(read()).rejects.toThrow('broken off');
  expect([aborted.events, broken.events]).toEqual([[event('output', 1)], [event('output', 2)]]);
});

it('passes the chunks on whatever the functions of its caller throw', async () => {
  const fail = () => {
    throw new Error('of the caller');
  };
  const { chunks, events } = metered(model(), { tokensOf: fail, estimate: fail });
  let text = '';
  for await (const chunk of chunks) text += chunk.text;
  expect([text, events]).toEqual(['abc', []]);
});

/** A stream that says nothing, and notes that it was ended. */
function silent() {
  const seen = { isEnded: false, isAborted: false };
  const stream: AsyncIterable<Chunk> & { controller: { abort(): void } } = {
    controller: {
      abort: () => {
        seen.isAborted = true;
      },
    },
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => undefined),
      return: () => {
        seen.isEnded = true;
        return new Promise(() => undefined);
      },
    }),
  };
  return { stream, seen };
}

it.each([
  ['before the first chunk', false],
  ['while the model is silent', true],
])('ends the stream of the model when the caller leaves %s', async (_, isReading) => {
  const { stream, seen } = silent();
  const { chunks, events } = metered(stream, { estimate: (count) => ({ input: 5, output: count }) });
  const next = isReading ? chunks.next() : undefined;
  expect(await chunks.return?.()).toEqual({ done: true, value: undefined });
  expect(await (next ?? chunks.next())).toEqual({ done: true, value: undefined });
  expect(seen).toEqual({ isEnded: true, isAborted: true });
  expect(events).toEqual([event('input', 5)]);
});

it('takes counts as models give them: null, or without a kind', async () => {
  const tokensOf = (chunk: Chunk) => (chunk.usage ? { input: chunk.usage.input, cached: undefined } : null);
  const { chunks, events } = metered(model(), { tokensOf });
  for await (const _ of chunks);
  expect(events).toEqual([event('input', 7)]);
});

it('counts nothing by what is async, and a rejection of it ends no process', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const reject = async (): Promise<never> => {
    throw new Error('of the application');
  };
  const { chunks, events } = metered(model(), { tokensOf: reject as never, estimate: reject as never });
  for await (const _ of chunks);
  await new Promise(setImmediate);
  expect([events, unhandled]).toEqual([[], []]);
});
