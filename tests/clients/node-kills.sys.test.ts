import { expect, it } from 'vitest';
import { keptShortForm } from '../faults/short-form.ts';
import { clientKilled } from './client-kill-rounds.ts';
import { NODE_CLIENT } from './node-client.ts';

/** The short form of promise 23 for Node.js. */
it('every event in a spool is counted once, whenever its process is killed', async () => {
  const { counts } = await keptShortForm(clientKilled(NODE_CLIENT));
  expect(counts.kills).toBe(5);
  // How many more depends on the machine: each process is killed when it has tracked one, or later.
  expect(counts.eventsTracked).toBeGreaterThanOrEqual(5);
  expect(counts.faults).toBeGreaterThan(0);
});
