import { expect, it } from 'vitest';
import { ofThisFile } from '../support/of-this-file.ts';
import { CORRECTION_SCENARIOS } from './correction-scenarios.ts';
import { CREDIT_SCENARIOS } from './credit-scenarios.ts';
import { openCreditWorld } from './credit-world.ts';

/*
 * Which usage burns credits, on a whole Metergate and over HTTP. All scenarios run at once: one start serves
 * them all, and what they settle shares batches.
 *
 * Seen red: 16 of them where usage is settled by the limit of now and a correction gives nothing back; the
 * processor's end also where it holds from the whole second that the processor names.
 */
const SCENARIOS = [...CREDIT_SCENARIOS, ...CORRECTION_SCENARIOS];

const world = await ofThisFile(openCreditWorld(), ({ close }) => close());
const running = SCENARIOS.map(({ run }) => run(world));
// Each is awaited by the test of its title.
for (const one of running) one.catch(() => undefined);

it.each(SCENARIOS.map(({ title }, at) => [title, at] as const))('%s', async (_, at) => {
  await expect(running[at]).resolves.toBeUndefined();
});
