import { expect, test } from 'vitest';
import type { CommitPart, Decision, Engine, UsageRequest } from '../infra/ports/engine.ts';
import { createBeginUsage, type UsageReply } from './begin-usage.ts';
import type { CommitWaiter, GroupCommit } from './embedded/group-commit.ts';

const RESPONSE = { status: 200, replayed: false, body: Buffer.from('{}') };
const PART = { eventCount: 3 } as CommitPart;
const BROKEN = new Error('the disk is dead');
const REQUEST = {} as UsageRequest;

/** An engine and a commit that do what the test says, and what the reply got. */
function createBench({ read = () => null as unknown, decide = (): Decision => ({ response: RESPONSE }) }) {
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
  return { ends, waiting, begin: () => begin(REQUEST, reply) };
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
