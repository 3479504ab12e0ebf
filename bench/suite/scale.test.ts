import { describe, expect, it } from 'vitest';
import { shortfalls } from './scale.ts';

const HELD = { requests: 9, notSent: 0, repeated: {}, givenUp: 0, lastFailure: undefined };

describe('a rate', () => {
  it('is held when each request was answered at once', () => {
    expect(shortfalls(HELD)).toEqual([]);
  });

  // Break this catches: a run at 80 % "without errors" that sent half of what it was to send.
  it('is not held when requests were not sent, repeated or never answered', () => {
    expect(shortfalls({ ...HELD, notSent: 3, repeated: { 503: 2 }, givenUp: 1 })).toEqual([
      '2 requests were repeated: 503',
      '3 requests could not be sent while the run lasted',
      '1 requests found no answer',
    ]);
  });
});
