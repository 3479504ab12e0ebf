import { expect, it } from 'vitest';
import { keptShortForm } from '../short-form.ts';
import { deliveryKilled } from './delivery-kills.ts';
import { webhookResponsesLost } from './lost-responses.ts';
import { noisyNeighbours } from './noisy-neighbours.ts';

/*
 * The short forms of promises 12 and 13, and of promise 5 on the last hop. What is judged is in their
 * own files; `npm run torture` runs the long ones.
 */

// Red with the mutants delivery-marked-before-sent and outbox-outside-its-transaction.
it('every event reaches every endpoint, the same each time, whenever the process is killed', async () => {
  const { counts } = await keptShortForm(deliveryKilled);
  expect(counts.killsOfControlSide).toBe(5);
  expect(counts.deliveriesTaken).toBeGreaterThan(600);
});

// Red with a retry under another id.
it('an event whose response was lost is sent again, and is the same one', async () => {
  const { counts } = await keptShortForm(webhookResponsesLost);
  expect(counts.responsesLostOfReceiver).toBeGreaterThanOrEqual(20);
});

// Red with the mutant one-global-queue.
it('endpoints that send no response hold up no other', async () => {
  await keptShortForm(noisyNeighbours);
});
