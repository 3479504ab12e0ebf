import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { expectKept } from '../expect-kept.ts';
import type { FaultPromise, FaultResult } from '../promise.ts';
import { runPromise } from '../run-promise.ts';
import { deliveryKilled } from './delivery-kills.ts';
import { webhookResponsesLost } from './lost-responses.ts';
import { noisyNeighbours } from './noisy-neighbours.ts';

/*
 * The short forms of promises 12 and 13, and of promise 5 on the last hop. What is judged is in their
 * own files; `npm run torture` runs the long ones.
 */
function shortForm(promise: FaultPromise): Promise<FaultResult> {
  const seed = randomInt(1_000_000);
  return runPromise(promise, { seed, rounds: promise.rounds.short, form: 'short' });
}

// Red with the mutants delivery-marked-before-sent and outbox-outside-its-transaction.
it('every event reaches every endpoint, the same each time, whenever the process is killed', async () => {
  const result = await shortForm(deliveryKilled);
  expectKept(result);
  expect(result.counts.killsOfControlSide).toBe(5);
  expect(result.counts.deliveriesTaken).toBeGreaterThan(600);
});

// Red with a retry under another id.
it('an event whose response was lost is sent again, and is the same one', async () => {
  const result = await shortForm(webhookResponsesLost);
  expectKept(result);
  expect(result.counts.responsesLostOfReceiver).toBeGreaterThanOrEqual(20);
});

// Red with the mutant one-global-queue.
it('endpoints that send no response hold up no other', async () => {
  const result = await shortForm(noisyNeighbours);
  expectKept(result);
});
