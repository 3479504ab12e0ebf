import { expect, test } from 'vitest';
import type { CommitPart, Decision, Engine, UsageRequest } from '../infra/ports/engine.ts';
import { KeysToRead } from '../infra/ports/idempotency-store.ts';
import { createBeginUsage, type UsageReply } from './begin-usage.ts';
import type { CommitWaiter, GroupCommit } from './embedded/group-commit.ts';

const RESPONSE = { status: 200, replayed: false, body: Buffer.from('{}') };
const PART = { eventCount: 3 } as CommitPart;
const BROKEN = new Error('the disk is dead');
const REQUEST = { body: Buffer.alloc(0) } as UsageRequest;

/** An engine and a commit that do what the test says, and what the reply got. */
function createBench({
  read = (_: UsageRequest) => null as unknown,
  decide = (): Decision => ({ response: RESPONSE }),
}) {
  const ends: string[] = [];
  const waiting: CommitWaiter[] = [];
  const reply: UsageReply = {
    respond: ({ status }, created) => ends.push(`${status}, ${created} created`),
    noSpace: () => ends.push('no space'),
    fail: (error) => ends.push((error as Error).message),
  };
  const groupCommit = {
    commit: (part, waiter) => {
      expect(part).toBe(PART);
      waiting.push(waiter);
    },
  } as Partial<GroupCommit> as GroupCommit;
  const begin = createBeginUsage({ read, decide } as Engine, groupCommit);
  return { ends, waiting, begin: (request = REQUEST) => begin(request, reply) };
}

const committed = (): Decision => ({ response: RESPONSE, commit: PART });
const failing = (): never => {
  throw BROKEN;
};

/** Red when the response does not wait for its commit: promise 1. */
test('a request with events gets its response when they are durable, not before', () => {
  const { ends, waiting, begin } = createBench({ decide: committed });
  begin();
  expect(ends).toEqual([]);
  waiting[0]?.resolve('durable');
  expect(ends).toEqual(['200, 3 created']);
});

test('without space, and with a log that is broken, the reply says so', () => {
  const { ends, waiting, begin } = createBench({ decide: committed });
  begin();
  begin();
  waiting[0]?.resolve('no_space');
  waiting[1]?.reject(BROKEN);
  expect(ends).toEqual(['no space', 'the disk is dead']);
});

test('a request that adds nothing has its response at once', () => {
  const { ends, waiting, begin } = createBench({});
  begin();
  expect([ends, waiting]).toEqual([['200, 0 created'], []]);
});

/** Red when an error escapes: the front would end the process, or a promise would be without an owner. */
test.each([
  ['reads', { read: failing }],
  ['decides', { decide: failing }],
  ['looks names up', { read: async (): Promise<unknown> => failing() }],
  ['decides after looking names up', { read: async (): Promise<unknown> => null, decide: failing }],
])('an engine that fails while it %s fails the reply, once', async (_, engine) => {
  const { ends, begin } = createBench(engine);
  begin();
  await expect.poll(() => ends).toEqual(['the disk is dead']);
});

/** Red when the body is read again where it was lent: other bytes are there by then. */
test('a request whose keys are read from the disk is read again, from a body of its own', async () => {
  const { ends, lent, bodies, texts } = readsKeysTwice((request) => request);
  await expect.poll(() => ends).toEqual(['200, 0 created']);
  expect(texts).toEqual(['its events', 'its events', 'its events']);
  // One copy for all reads.
  expect(bodies[0]).toBe(lent);
  expect(bodies[2]).toBe(bodies[1]);
});

// Red when its items stay in memory while its keys are read: they are counted no more by then.
test('so is one whose names took a while', async () => {
  const { ends, texts } = readsKeysTwice(async () => null);
  await expect.poll(() => ends).toEqual(['200, 0 created']);
  expect(texts).toEqual(['its events', 'its events', 'its events']);
});

// Red when a large body, which is collected from several pieces or inflated, is held twice.
test('a body that is kept until the reply is not copied', async () => {
  const { ends, lent, bodies } = readsKeysTwice(async () => null, { isBodyKept: true });
  await expect.poll(() => ends).toEqual(['200, 0 created']);
  expect(bodies.map((body) => body === lent)).toEqual([true, true, true]);
});

test('keys that are never there end it, and so do those that cannot be read', async () => {
  let decisions = 0;
  const decide = (): Decision => {
    decisions += 1;
    throw new KeysToRead(async () => undefined);
  };
  const { ends, begin } = createBench({ read: async () => null, decide });
  begin();
  await expect.poll(() => ends).toEqual(['Keys have to be read from the disk first.']);
  expect(decisions).toBe(4);
  const unread = new KeysToRead(() => Promise.reject(BROKEN));
  const other = createBench({
    decide: () => {
      throw unread;
    },
  });
  other.begin();
  await expect.poll(() => other.ends).toEqual(['the disk is dead']);
});

/** A request that is decided once its keys were read twice, and where its body was, and what it said. */
function readsKeysTwice(reading: (request: UsageRequest) => unknown, { isBodyKept = false } = {}) {
  const lent = Buffer.from('its events');
  const bodies: Buffer[] = [];
  const texts: string[] = [];
  const read = (request: UsageRequest) => {
    bodies.push(request.body);
    texts.push(request.body.toString());
    return reading(request);
  };
  const decide = (): Decision => {
    if (bodies.length < 3) throw new KeysToRead(async () => undefined);
    return { response: RESPONSE };
  };
  const { ends, begin } = createBench({ read, decide });
  begin({ body: lent, isBodyKept } as UsageRequest);
  if (!isBodyKept) lent.fill('x');
  return { ends, lent, bodies, texts };
}
