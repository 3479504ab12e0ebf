import { expect, it } from 'vitest';
import { Rejected } from '../../schemas/failures.ts';
import { createTenantSemaphore } from './tenant-semaphore.ts';

/*
 * Mutants this suite catches: no share of one environment; a waiter that is not counted once it is admitted;
 * a slot that a failure keeps; no bound on waiters, or none on those of one environment.
 */
const LIMITS = { underWayMax: 3, shareMax: 2, waitingMax: 3, waitingShareMax: 2, waitMs: 5_000 };

/** Work that reports its start and is ended by the test. */
function manual() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      begun.push(name);
      ends.set(name, (error) => (error ? reject(error) : resolve(name)));
    });
  return { begun, work, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

const OVERLOADED = expect.objectContaining({ rejection: expect.objectContaining({ code: 'overloaded' }) });

it('gives each environment its share, and those that wait their turn in order', async () => {
  const gate = createTenantSemaphore(LIMITS, 'tests');
  const { begun, work, end } = manual();
  const [a1, a2] = ['a1', 'a2'].map((name) => gate.run('a', work(name)));
  const a3 = gate.run('a', work('a3'));
  const b1 = gate.run('b', work('b1'));
  const b2 = gate.run('b', work('b2'));
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  end('b1');
  expect(await b1).toBe('b1');
  await expect.poll(() => begun, { timeout: 20_000 }).toEqual(['a1', 'a2', 'b1', 'b2']);
  end('a1', new Error('broken'));
  await expect(a1).rejects.toThrow('broken');
  await expect.poll(() => begun, { timeout: 20_000 }).toEqual(['a1', 'a2', 'b1', 'b2', 'a3']);
  const full = gate.runAtOnce('c', work('c'));
  await expect(full).rejects.toEqual(OVERLOADED);
  for (const name of ['a2', 'a3', 'b2']) end(name);
  await Promise.all([a2, a3, b2]);
  const c = gate.runAtOnce('c', work('c2'));
  end('c2');
  expect(await c).toBe('c2');
});

// Mutant it catches: a waiter that stays in its line.
it('lets those leave their line whose signal aborts', async () => {
  const gate = createTenantSemaphore({ ...LIMITS, shareMax: 1 }, 'tests');
  const { begun, work, end } = manual();
  const controller = new AbortController();
  const first = gate.run('a', work('1'), controller.signal);
  const left = ['2', '3'].map((name) => gate.run('a', work(name), controller.signal));
  controller.abort(new Error('gone'));
  for (const one of left) await expect(one).rejects.toThrow('gone');
  await expect(gate.run('b', work('b'), controller.signal)).rejects.toThrow('gone');
  const others = ['4', '5'].map((name) => gate.run('a', work(name)));
  for (const name of ['1', '4', '5']) {
    await expect.poll(() => begun, { timeout: 20_000 }).toContain(name);
    end(name);
  }
  expect(await Promise.all([first, ...others])).toEqual(['1', '4', '5']);
  expect(begun).toEqual(['1', '4', '5']);
});

it('lets no more wait than its bounds, of all and of one', async () => {
  const gate = createTenantSemaphore(LIMITS, 'tests');
  const { begun, work, end } = manual();
  const all = ['1', '2', '3', '4'].map((name) => gate.run('a', work(name)));
  await expect(gate.run('a', work('5'))).rejects.toEqual(OVERLOADED);
  all.push(gate.run('b', work('6')), gate.run('b', work('7')));
  await expect(gate.run('c', work('8'))).rejects.toEqual(OVERLOADED);
  for (const name of ['1', '2', '6', '3', '4', '7']) {
    await expect.poll(() => begun, { timeout: 20_000 }).toContain(name);
    end(name);
  }
  expect(await Promise.all(all)).toEqual(['1', '2', '3', '4', '6', '7']);
});

it('rejects what waited too long, and nothing of it is left', async () => {
  const gate = createTenantSemaphore({ ...LIMITS, shareMax: 1, waitMs: 20 }, 'tests');
  const { begun, work, end } = manual();
  const first = gate.run('a', work('first'));
  for (let round = 0; round < 4; round += 1) {
    await expect(gate.run('a', work('late'))).rejects.toBeInstanceOf(Rejected);
  }
  end('first');
  await first;
  const next = gate.run('a', work('next'));
  expect(begun).toEqual(['first', 'next']);
  end('next');
  await next;
});
