import { expect, it } from 'vitest';
import { keptShortForm } from '../short-form.ts';
import { fuzzBytes } from './fuzz-bytes.ts';

/*
 * The short form of promise 7, and of the contract's rules for bad input over HTTP. Seen red with each of
 * these mutants: bodies walked recursively, the surrogate check removed, the limit of a number removed,
 * onAborted removed, a doubtful framing taken, metadata rounded.
 */
it('5,000 fuzz bodies, the JSON cases and every misuse of a connection do no harm', async () => {
  const { counts } = await keptShortForm(fuzzBytes, { seed: 7 });
  expect(counts).toMatchObject({ bodies: 5_000, clientsGone: 300 });
  expect(counts.jsonCaseBodies).toBeGreaterThan(4_000);
  const codes = ['invalid_json', 'invalid_request', 'value_invalid', 'payload_too_large'];
  for (const outcome of ['created', ...codes]) {
    expect(counts[`returned ${outcome}`], outcome).toBeGreaterThan(0);
  }
}, 420_000);
