import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FoundCustomer } from '../cache/customer-cache.ts';
import { createEntitlementFeed, type EntitlementFeedDeps } from './entitlement-feed.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const ENVIRONMENT = 'ws_a:live';

/** A feed on a clock of its own; `checked` are the customers that were checked lately. */
function feedUnderTest(checked: string[]) {
  let nowMs = 0;
  const find = (environment: string, customerId: string) =>
    ({ isLarge: true, environment, customerId }) as FoundCustomer;
  const customers = { seen: (of: string) => (of === ENVIRONMENT ? checked : []), find };
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  // Customers that are too large are read from nowhere else.
  const deps = { clock, entitlementCache: { customers }, asOfMs: () => nowMs };
  const feed = createEntitlementFeed(deps as unknown as EntitlementFeedDeps);

  async function pass(seconds: number): Promise<void> {
    for (let at = 0; at < seconds * 4; at++) {
      nowMs += 250;
      await vi.advanceTimersByTimeAsync(250);
      await nextTurn();
    }
  }

  function open(
    lastEventId?: string,
    { environment = ENVIRONMENT, names = undefined as string[] | undefined } = {},
  ) {
    const times = { heartbeatMs: 1_000, forMs: 3_600_000 };
    const body = feed.open({ environment, names, lastEventId, ...times, isAllowed: async () => true });
    let text = '';
    body.on('data', (chunk) => {
      text += chunk;
    });
    return {
      lastEventId: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1],
      sent: () => [...text.matchAll(/"asked":"(\w+)"/g)].map(([, name]) => name),
      isResumed: () => /event: begin\ndata: .*"resumed":(\w+)/.exec(text)?.[1],
      async close() {
        body.destroy();
        await nextTurn();
      },
    };
  }
  return { feed, open, pass };
}

/**
 * Red when a client without names goes on deciding about a customer that no feed tells it of any more: it is
 * told that it was not resumed, and drops what it does not get again.
 */
test('a feed of seen customers is resumed while all of them are known, and begins again after', async () => {
  const checked = ['a'];
  const { feed, open, pass } = feedUnderTest(checked);
  const first = open();
  await pass(2);
  expect([first.sent(), first.isResumed()]).toEqual([['a'], 'false']);
  const id = first.lastEventId();
  await first.close();
  checked.pop(); // from the cache
  await pass(5);
  const soon = open(id);
  await pass(1);
  expect([soon.sent(), soon.isResumed()]).toEqual([[], 'true']);
  await soon.close();
  await pass(62);
  const late = open(id);
  await pass(1);
  expect([late.sent(), late.isResumed()]).toEqual([[], 'false']);
  feed.end();
});

/** Red when the set is taken for the same as long as any of its customers is known. */
test('a feed of seen customers begins again once one of them is forgotten and others are not', async () => {
  const checked = ['a', 'b'];
  const { feed, open, pass } = feedUnderTest(checked);
  const [first, named] = [open(), open(undefined, { names: ['b'] })];
  await pass(2);
  expect([first.sent().sort(), named.sent()]).toEqual([['a', 'b'], ['b']]);
  const id = first.lastEventId();
  await first.close();
  await pass(62);
  const late = open(id);
  await pass(1);
  expect(late.isResumed()).toBe('false');
  expect(late.sent().sort()).toEqual(['a', 'b']);
  feed.end();
});

// Red when a client takes what only other feeds got for what it has had itself.
test('a customer that came while a client was disconnected is sent to it', async () => {
  const checked = ['a'];
  const { feed, open, pass } = feedUnderTest(checked);
  const [gone, stays, named] = [open(), open(), open(undefined, { names: ['b'] })];
  await pass(2);
  const id = gone.lastEventId();
  await gone.close();
  checked.push('b');
  await pass(2);
  expect([named.sent(), stays.sent()]).toEqual([['b'], ['a', 'b']]);
  const again = open(id);
  await pass(1);
  expect([again.sent(), again.isResumed()]).toEqual([['b'], 'true']);
  feed.end();
});

test('an id of another environment is not known', async () => {
  const { feed, open, pass } = feedUnderTest(['a']);
  for (const names of [['a'], undefined]) {
    const first = open(undefined, { names });
    await pass(2);
    const other = open(first.lastEventId(), { names, environment: 'ws_a:test' });
    await pass(1);
    expect([first.sent(), other.isResumed()]).toEqual([['a'], 'false']);
  }
  feed.end();
});
