import { describe, expect, it } from 'vitest';
import { shortfalls } from './scale.ts';

const HELD = { requests: 9, notSent: 0, repeated: {}, givenUp: 0, lastFailure: undefined };

describe('a rate', () => {
  it('is held when each request received its response at once', () => {
    expect(shortfalls(HELD)).toEqual([]);
  });

  // Fault this catches: a run at 80 % "without errors" that sent half of what it was to send.
  it('is not held when requests were not sent, repeated or left without a response', () => {
    expect(shortfalls({ ...HELD, notSent: 3, repeated: { 503: 2 }, givenUp: 1 })).toEqual([
      '2 requests were repeated: 503',
      '3 requests could not be sent while the run lasted',
      '1 requests received no response',
    ]);
  });
});
