import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { during } from './during.ts';

it('gives what was done and what the load says of itself', async () => {
  const load = { stop: async () => '7 requests' };
  expect(await during(load, async () => 'done')).toEqual({ done: 'done', summary: '7 requests' });
});

it('stops the load and waits for its end when the action fails', async () => {
  let ended = false;
  const load = {
    async stop() {
      await turn();
      ended = true;
    },
  };
  await expect(during(load, () => Promise.reject(new Error('no store')))).rejects.toThrow(/^no store$/);
  expect(ended).toBe(true);
});

it('reports both failures, and that of the load alone', async () => {
  const broken = { stop: () => Promise.reject(new Error('no response')) };
  const failing = during(broken, () => Promise.reject(new Error('no store')));
  await expect(failing).rejects.toThrow('no store; and of the concurrent load: no response');
  await expect(during(broken, async () => 1)).rejects.toThrow(/^no response$/);
});
