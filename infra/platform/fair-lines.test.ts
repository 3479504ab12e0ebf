import { expect, it } from 'vitest';
import { createFairLines } from './fair-lines.ts';

const admitNone = () => undefined;

/** Lines, and the names of those that were admitted or left. */
function linesOfThisTest(waitMs = 60_000, costPerTurn?: number) {
  const lines = createFairLines(waitMs, costPerTurn);
  const ends: string[] = [];
  const wait = async (name: string, signal?: AbortSignal, cost?: number) => {
    const isAdmitted = await lines.turn(name.slice(0, 1), signal, cost);
    ends.push(isAdmitted ? name : `${name} left`);
  };
  const admitAll = async () => {
    while (lines.waiting() > 0) lines.admitNext(() => true, admitNone);
    await new Promise(setImmediate);
  };
  return { lines, ends, wait, admitAll };
}

// Red when one tenant with many waiters is served before others that came later.
it('alternate between tenants, and serve each in order', async () => {
  const { lines, ends, wait, admitAll } = linesOfThisTest();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) void wait(name);
  expect([lines.waiting(), lines.waitingOf('a'), lines.waitingOf('d')]).toEqual([6, 3, 0]);
  await admitAll();
  expect(ends).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  expect([lines.waiting(), lines.waitingOf('a')]).toEqual([0, 0]);
});

// Red when one request of a tenant is worth a hundred small ones of another.
it('admit more of those that cost little', async () => {
  const { ends, wait, admitAll } = linesOfThisTest(60_000, 4);
  for (const name of ['a1', 'a2', 'a3']) void wait(name, undefined, 5);
  for (const name of ['b1', 'b2', 'b3', 'b4']) void wait(name, undefined, 2);
  await admitAll();
  expect(ends).toEqual(['a1', 'b1', 'b2', 'a2', 'b3', 'b4', 'a3']);
});

it('pass over a tenant without room', async () => {
  const { lines, ends, wait } = linesOfThisTest();
  for (const name of ['a1', 'b1']) void wait(name);
  const admitted: string[] = [];
  lines.admitNext(
    (tenant) => tenant === 'b',
    (tenant) => admitted.push(tenant),
  );
  expect([admitted, lines.waiting()]).toEqual([['b'], 1]);
  lines.admitNext(() => false, admitNone);
  lines.admitNext(() => true, admitNone);
  await new Promise(setImmediate);
  expect(ends).toEqual(['b1', 'a1']);
});

it('are left by those that waited too long, or whose signal aborts', async () => {
  const late = linesOfThisTest(5);
  await Promise.all(['a1', 'a2', 'b1'].map((name) => late.wait(name)));
  expect(late.ends).toEqual(['a1 left', 'a2 left', 'b1 left']);
  expect(late.lines.waiting()).toBe(0);
  const { ends, wait, admitAll } = linesOfThisTest();
  const controller = new AbortController();
  for (const name of ['a1', 'b1']) void wait(name, controller.signal);
  void wait('a2');
  controller.abort();
  await admitAll();
  expect(ends).toEqual(['a1 left', 'b1 left', 'a2']);
});
