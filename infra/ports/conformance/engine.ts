import { describe } from 'vitest';
import { engineFramePartTests } from './engine-frame-part.ts';
import { engineFuzzTests } from './engine-fuzz.ts';
import type { CreateEngineHarness } from './engine-harness.ts';
import { engineItemFormTests } from './engine-item-form.ts';
import { engineNoticeTests } from './engine-notices.ts';
import { engineOrderTests } from './engine-order.ts';
import { engineReplayTests } from './engine-replays.ts';
import { engineRequestFormTests } from './engine-request-form.ts';
import { engineResponseTests } from './engine-responses.ts';
import { engineStateTests } from './engine-state.ts';
import { engineTextTests } from './engine-texts.ts';
import { engineValueTests } from './engine-values.ts';

/** The API's rules of usage requests, as far as they are the engine's. Every engine passes this suite. */
export function engineConformance(name: string, create: CreateEngineHarness): void {
  describe(`${name} as an Engine`, () => {
    describe('the request as a whole', () => engineRequestFormTests(create));
    describe('the form of an item', () => engineItemFormTests(create));
    describe('texts and times of an item', () => engineTextTests(create));
    describe('values', () => engineValueTests(create));
    describe('what a response contains besides its body', () => engineNoticeTests(create));
    describe('the order of a `latest` meter', () => engineOrderTests(create));
    describe('replays', () => engineReplayTests(create));
    describe('state and age', () => engineStateTests(create));
    describe('what is written to the log', () => engineFramePartTests(create));
    describe('responses that wait', () => engineResponseTests(create));
    describe('any input', () => engineFuzzTests(create));
  });
}
