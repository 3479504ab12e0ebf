import { expect, it } from 'vitest';
import { inShortTurns, timesOurs, wholeOf } from './short-turns.ts';

interface Ran extends Record<string, number> {
  events: number;
  micros: number;
}

const perEvent = ({ events, micros }: Ran) => micros / events;

/** A machine on which everything takes longer from turn to turn. */
function slowing(costs: Record<'bare' | 'ours', number>) {
  const order: string[] = [];
  const runner = (name: 'bare' | 'ours') => async (): Promise<Ran> => {
    order.push(name);
    return { events: 10, micros: costs[name] * (100 + order.length) };
  };
  return { order, runners: { bare: runner('bare'), ours: runner('ours') } };
}

// Fault this catches: always the same order, in which the second is always the one on a slower machine.
it('goes to and fro, so that a machine that slows down is no slow code', async () => {
  const { order, runners } = slowing({ bare: 10, ours: 20 });
  const rounds = await inShortTurns({ rounds: 7, runMs: 400 }, runners);
  expect(order.slice(0, 8)).toEqual(['bare', 'ours', 'ours', 'bare', 'bare', 'ours', 'ours', 'bare']);
  expect(timesOurs(rounds, 'bare', perEvent).pairs).toEqual(Array.from({ length: 7 }, () => 0.5));
});

it('adds up what a round has done and what that cost', async () => {
  const { runners } = slowing({ bare: 1, ours: 1 });
  const [round] = await inShortTurns({ rounds: 1, runMs: 800 }, runners);
  if (!round) throw new Error('there is no round');
  expect(wholeOf(round.ours).events).toBe(80);
  expect(round.ours.first.events).toBe(40);
});

// Fault this catches: the first turns compared with the last ones, which differ on a machine that slows down.
it('the control is one half of the turns against the other, and equal for equal candidates', async () => {
  const { runners } = slowing({ bare: 1, ours: 4 });
  const rounds = await inShortTurns({ rounds: 3, runMs: 400 }, runners);
  const { control, noise } = timesOurs(rounds, 'bare', perEvent);
  expect(control).toBeCloseTo(1, 3);
  expect(noise).toBeCloseTo(0, 3);
});

it('the control reports how far two halves of one candidate were apart', async () => {
  const micros = [1, 3, 3, 1].values();
  const bare = async (): Promise<Ran> => ({ events: 1, micros: micros.next().value ?? 0 });
  const ours = async (): Promise<Ran> => ({ events: 1, micros: 1 });
  const rounds = await inShortTurns({ rounds: 1, runMs: 400 }, { bare, ours });
  expect(timesOurs(rounds, 'bare', perEvent)).toMatchObject({ value: 2, control: 3, noise: 2 });
});
