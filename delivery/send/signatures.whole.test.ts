import { it } from 'vitest';
import { verifyBodies } from './signatures-under-test.ts';

// Promise 14 at length: signatures.test.ts sends the first thousand of them.
it('ten thousand bodies are verified as they came, and not with a bit flipped', async () => {
  await verifyBodies(10_000);
});
