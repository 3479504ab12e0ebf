import { describe, expect, it } from 'vitest';
import { EndpointQueues, type JobOutcome } from './endpoint-queues.ts';

/** Jobs that run until they are ended. */
function endpointQueuesUnderTest({ runningMax = 100 } = {}) {
  const begun: string[] = [];
  const ends = new Map<string, (outcome: JobOutcome) => void>();
  const shut: string[] = [];
  const state = { mayBegin: true, capacities: 0 };
  const queues = new EndpointQueues<string>({
    run: (name) => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    },
    concurrency: 2,
    failuresMax: 3,
    runningMax,
    heldOfOneMax: 8,
    heldMax: 40,
    mayBegin: () => state.mayBegin,
    onCapacity: () => {
      state.capacities += 1;
    },
    onShut: (jobs) => shut.push(...jobs),
  });
  const end = async (name: string, outcome: JobOutcome = 'succeeded') => {
    ends.get(name)?.(outcome);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { queues, begun, shut, state, end };
}

const WELL = { failures: 0, isCutOff: false };

describe('endpoint queues', () => {
  it('begin so many of each endpoint, and the next one when one has ended', async () => {
    const { queues, begun, end } = endpointQueuesUnderTest();
    queues.add('a', ['a1', 'a2', 'a3'], WELL);
    expect(begun).toEqual(['a1', 'a2']);
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'a3']);
  });

  /** Red when a queue runs for as long as it has jobs. */
  it('take turns when not all can run', async () => {
    const { queues, begun, end } = endpointQueuesUnderTest({ runningMax: 2 });
    queues.add('a', ['a1', 'a2', 'a3', 'a4'], WELL);
    queues.add('b', ['b1', 'b2'], WELL);
    for (const name of ['a1', 'a2', 'b1', 'a3']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
  });

  it('have room for one more of each that has ended, and for more of one that runs dry', async () => {
    const { queues, end } = endpointQueuesUnderTest();
    queues.add('a', ['a1', 'a2'], { failures: 0, isCutOff: true });
    expect(queues.capacities()).toEqual(new Map([['a', 2]]));
    queues.add('a', ['a3', 'a4'], WELL);
    expect(queues.capacities()).toEqual(new Map([['a', 0]]));
    for (const name of ['a1', 'a2', 'a3', 'a4']) await end(name);
    expect(queues.capacities()).toEqual(new Map([['a', 4]]));
  });

  it('return the next job of each endpoint that has waiting jobs', () => {
    const { queues } = endpointQueuesUnderTest();
    queues.add('a', ['a1', 'a2', 'a3', 'a4'], WELL);
    queues.add('b', ['b1'], WELL);
    expect(queues.next()).toEqual(new Map([['a', 'a3']]));
    expect(queues.clear('a')).toEqual(['a3', 'a4']);
    expect(queues.next()).toEqual(new Map());
  });

  it('forget an endpoint of which nothing is held or to be recorded', async () => {
    const { queues, end } = endpointQueuesUnderTest();
    queues.add('a', ['a1'], WELL);
    await end('a1');
    expect([...queues.capacities().keys()]).toEqual(['a']);
    queues.recorded('a');
    expect([...queues.capacities().keys()]).toEqual([]);
  });

  /** Red when it may continue before its failures are written down: the circuit would open too late. */
  it('shut an endpoint after too many failures in a row until all of them are recorded', async () => {
    const { queues, begun, shut, end } = endpointQueuesUnderTest();
    queues.add('a', ['a1', 'a2', 'a3', 'a4', 'a5'], WELL);
    for (const name of ['a1', 'a2', 'a3']) await end(name, 'failed');
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
    expect(shut).toEqual(['a5']);
    expect(queues.capacities().get('a')).toBe(0);
    queues.recorded('a');
    queues.recorded('a');
    expect(queues.capacities().get('a')).toBe(0);
    queues.recorded('a');
    expect(queues.capacities().get('a')).toBe(1);
  });

  it('shut one that wants nothing any more at once', async () => {
    const { queues, shut, end } = endpointQueuesUnderTest();
    queues.add('a', ['a1', 'a2', 'a3'], WELL);
    await end('a1', 'gone');
    expect(shut).toEqual(['a3']);
  });

  it('begin nothing while they may not, and then all', () => {
    const { queues, begun, state } = endpointQueuesUnderTest();
    state.mayBegin = false;
    queues.add('a', ['a1'], WELL);
    queues.add('b', ['b1'], WELL);
    expect(begun).toEqual([]);
    state.mayBegin = true;
    queues.go();
    expect(begun).toEqual(['a1', 'b1']);
  });

  /** Red without the bound: endpoints that hang would take every place. */
  it('give each endpoint one place when half of all are taken', async () => {
    const { queues, begun, end } = endpointQueuesUnderTest({ runningMax: 4 });
    expect(queues.limit).toBe(2);
    queues.add('a', ['a1', 'a2', 'a3'], WELL);
    queues.add('b', ['b1', 'b2'], WELL);
    expect(queues.limit).toBe(1);
    queues.add('c', ['c1'], WELL);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1']);
    await end('b1');
    expect(begun.at(-1)).toBe('b2');
  });

  it('that are closed give back what waits', () => {
    const { queues, begun } = endpointQueuesUnderTest();
    queues.add('a', ['a1', 'a2', 'a3'], WELL);
    expect(queues.close()).toEqual(['a3']);
    queues.add('b', ['b1'], WELL);
    expect(begun).toEqual(['a1', 'a2']);
  });
});
