import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFairShares } from '../../infra/platform/fair-shares.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { createBufferPool } from '../buffer-pool.ts';
import type { Admission } from './admission.ts';
import { type BodyBuffers, type BodyOutcome, inflate, type ReadBody, readBody } from './read-body.ts';

const BYTES_MAX = 1_000;

/** What became of a body. */
type Settled = BodyOutcome | 'aborted';

/** A client that sends when the test does, and its body as it is read. */
function createClient(buffers: BodyBuffers) {
  let chunk: (bytes: Buffer, isLast: boolean) => void = () => undefined;
  let end: () => void = () => undefined;
  let abort: () => void = () => undefined;
  const exchange = {
    onAborted: (listener: () => void) => {
      abort = listener;
    },
    readBody: (onChunk: typeof chunk, onEnd: typeof end) => {
      chunk = onChunk;
      end = onEnd;
    },
  } as unknown as Exchange; // nothing else of a request is touched
  const { promise: reading, resolve } = deferred<Settled>();
  const settled: BodyOutcome[] = [];
  readBody(exchange, 'env', buffers, (outcome) => {
    settled.push(outcome);
    resolve(outcome);
  });
  return {
    reading,
    settled,
    send: (text: string, isLast = false) => chunk(Buffer.from(text), isLast),
    sendAll: (bytes: Buffer) => chunk(bytes, true),
    end: () => end(),
    abort() {
      abort();
      resolve('aborted');
    },
  };
}

function buffersOf(admission: Admission, bytesMax = BYTES_MAX): BodyBuffers {
  return { admission, buffers: createBufferPool(1_000_000), bytesMax };
}

function textOf(outcome: Settled): string {
  if (outcome === 'aborted') return outcome;
  return 'code' in outcome ? outcome.code : outcome.body.toString();
}

test('a body is all its chunks in their order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 20 }), { maxLength: 10 }),
      fc.boolean(),
      async (chunks, knows) => {
        const client = createClient(buffersOf(createFairShares(10_000, 10_000), 10_000));
        for (const [at, chunk] of chunks.entries()) client.send(chunk, knows && at === chunks.length - 1);
        client.end();
        expect(textOf(await client.reading)).toBe(chunks.join(''));
      },
    ),
    { seed: 20261121 },
  );
});

/** Red when bytes are given back before the response, twice, or not at all. */
test('the bytes of a body are in flight until it is released, once', async () => {
  const admission = createFairShares(BYTES_MAX, BYTES_MAX);
  const client = createClient(buffersOf(admission));
  client.send('abc');
  client.send('de');
  expect(admission.held).toBe(5);
  client.end();
  const outcome = await client.reading;
  client.abort();
  expect(admission.held).toBe(5);
  if (typeof outcome === 'object' && 'release' in outcome) {
    outcome.release();
    outcome.release();
  }
  expect(admission.held).toBe(0);
});

// Red when a body's memory is reused while it may still be read, and when it is never reused.
test('the memory of a body is used again once it is released', async () => {
  const pools = buffersOf(createFairShares(1_000_000), 1_000_000);
  const bodyOf = async (text: string) => {
    const client = createClient(pools);
    client.send(text.slice(0, 7));
    client.send(text.slice(7));
    client.end();
    return (await client.reading) as ReadBody;
  };
  const [large, other] = ['a'.repeat(20_000), 'b'.repeat(20_000)];
  const first = await bodyOf(large);
  const second = await bodyOf(other);
  expect([first.body.toString(), second.body.toString()]).toEqual([large, other]);
  expect(first.isKept).toBe(true);
  first.release();
  const third = await bodyOf(other);
  expect(third.body.buffer).toBe(first.body.buffer);
  expect(second.body.toString()).toBe(other);
});

// Red when it is copied, and when its bytes are not in flight until it is released.
test('a body in one piece is given as it lies there, once', () => {
  const admission = createFairShares(BYTES_MAX, BYTES_MAX);
  const client = createClient(buffersOf(admission));
  const bytes = Buffer.from('abc');
  client.sendAll(bytes);
  client.end();
  client.abort();
  expect(client.settled).toMatchObject([{ body: bytes }]);
  const [read] = client.settled as ReadBody[];
  expect(read?.body).toBe(bytes);
  expect(read?.isKept).toBe(false);
  expect(admission.held).toBe(3);
  read?.release();
  expect(admission.held).toBe(0);
});

test('a body of the limit is taken; one byte more is rejected and held no longer', async () => {
  for (const [bytes, notified] of [
    [BYTES_MAX, 'x'.repeat(BYTES_MAX)],
    [BYTES_MAX + 1, 'payload_too_large'],
  ] as const) {
    const admission = createFairShares(10 * BYTES_MAX);
    const client = createClient(buffersOf(admission));
    client.send('x'.repeat(600));
    client.send('x'.repeat(bytes - 600));
    if (notified === 'payload_too_large') expect(admission.held).toBe(0);
    client.send(''); // chunks keep coming after an early response
    client.end();
    expect(textOf(await client.reading)).toBe(notified);
  }
});

test('what admission does not allow is rejected, and an abort makes room again', async () => {
  const admission = createFairShares(BYTES_MAX, BYTES_MAX);
  const first = createClient(buffersOf(admission));
  first.send('x'.repeat(700));
  const second = createClient(buffersOf(admission));
  second.send('y'.repeat(200));
  second.send('y'.repeat(200));
  second.send('y'.repeat(50));
  second.end();
  expect(textOf(await second.reading)).toBe('overloaded');
  expect(admission.held).toBe(700);
  first.abort();
  expect(await first.reading).toBe('aborted');
  expect(admission.held).toBe(0);
});

test('a client that disconnects in the middle leaves nothing behind', async () => {
  const admission = createFairShares(BYTES_MAX, BYTES_MAX);
  const client = createClient(buffersOf(admission));
  client.send('abc');
  client.abort();
  client.send('late');
  client.end();
  expect(await client.reading).toBe('aborted');
  expect(admission.held).toBe(0);
});

test('gzip is inflated, in one member or several', async () => {
  expect(await inflated(gzipSync('abc'))).toBe('abc');
  expect(await inflated(gzipSync(''))).toBe('');
  const members = Buffer.concat([gzipSync('abc'), gzipSync('def')]);
  expect(await inflated(members)).toBe('abcdef');
});

/** Red when the inflated size is not bounded: 1 MiB of gzip can be 1 GiB of zeros. */
test('a body that inflates beyond the limit is rejected', async () => {
  expect(await inflated(gzipSync(Buffer.alloc(BYTES_MAX)))).toHaveLength(BYTES_MAX);
  const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
  expect(await inflated(bomb)).toMatchObject({ code: 'payload_too_large' });
});

test('what is no gzip is rejected', async () => {
  const whole = gzipSync('abcdefgh');
  const changed = Buffer.from(whole).fill(0, whole.length - 8, whole.length - 4); // its checksum
  for (const body of [Buffer.alloc(0), Buffer.from('{}'), whole.subarray(0, -3), changed]) {
    expect(await inflated(body)).toMatchObject({ code: 'invalid_gzip' });
  }
});

/** Red when the packed bytes alone are counted: 2,000 connections took 2.4 GB with 2 MB of gzip. */
test('room is taken for what gzip may become, and given back when the request is over', async () => {
  const admission = createFairShares(BYTES_MAX, BYTES_MAX);
  const read = { body: gzipSync('abc'), isKept: false, release: () => undefined };
  const first = await inflate(read, 'env', buffersOf(admission));
  expect(first).toMatchObject({ isKept: true });
  expect(admission.held).toBe(3);
  expect(await inflate(read, 'env', buffersOf(admission))).toMatchObject({ code: 'overloaded' });
  if ('release' in first) first.release();
  expect(admission.held).toBe(0);
  await inflate({ ...read, body: Buffer.from('no gzip') }, 'env', buffersOf(admission));
  expect(admission.held).toBe(0);
});

async function inflated(packed: Buffer): Promise<unknown> {
  const read = { body: packed, isKept: false, release: () => undefined };
  const outcome = await inflate(read, 'env', buffersOf(createFairShares(10 * BYTES_MAX)));
  return 'body' in outcome ? outcome.body.toString() : outcome;
}
