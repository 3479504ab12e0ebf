import { expect, it } from 'vitest';
import { expectKept } from '../expect-kept.ts';
import { runPromise } from '../run-promise.ts';
import { fuzzBytes } from './fuzz-bytes.ts';

/*
 * The short form of promise 7, and of the contract's rules for bad input over HTTP. Seen red with each of
 * these mutants: bodies walked recursively, the surrogate check removed, the limit of a number removed,
 * onAborted removed, a doubtful framing taken, metadata rounded.
 */
it('5,000 fuzz bodies, the JSON cases and every misuse of a connection do no harm', async () => {
  const result = await runPromise(fuzzBytes, { seed: 7, rounds: 1, form: 'short' });
  expectKept(result);
  expect(result.counts).toMatchObject({ bodies: 5_000, clientsGone: 300 });
  expect(result.counts.jsonCaseBodies).toBeGreaterThan(4_000);
  for (const outcome of [
    'created',
    'invalid_json',
    'invalid_request',
    'value_invalid',
    'payload_too_large',
  ]) {
    expect(result.counts[`returned ${outcome}`], outcome).toBeGreaterThan(0);
  }
}, 420_000);
