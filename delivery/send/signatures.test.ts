import { describe, expect, it } from 'vitest';
import { signatureHeaders } from './sign.ts';
import {
  OLD_SECRET,
  SECRET,
  sendAndRead,
  standardTakes,
  stripeTakes,
  verifyBodies,
} from './signatures-under-test.ts';

/*
 * Promise 14, with what a receiver reads from the wire; ten times as many bodies in signatures.whole.test.ts.
 * Seen red with the mutants body-re-serialised-before-signing and old-secret-left-out
 * (tests/mutants/delivery-mutants.ts).
 */
describe('promise 14: a delivery', () => {
  it('of any body is verified by stripe and standardwebhooks, and by none with a bit flipped', async () => {
    await verifyBodies(1_000);
  });

  it('is signed with the old secret too while both are good, and then with the new one alone', async () => {
    const both = await sendAndRead('{}', [SECRET, OLD_SECRET]);
    const alone = await sendAndRead('{}');
    for (const takes of [stripeTakes, standardTakes]) {
      expect([takes(both, SECRET), takes(both, OLD_SECRET)]).toEqual([true, true]);
      expect([takes(alone, SECRET), takes(alone, OLD_SECRET)]).toEqual([true, false]);
    }
  });

  // The signatures are openssl's.
  it('states when it was signed, in whole seconds and three places', () => {
    const headers = signatureHeaders({
      eventId: 'evt_1',
      body: Buffer.from('{"a":1}'),
      secrets: [SECRET],
      atMs: 1_767_225_600_999,
    });
    expect(headers).toEqual({
      'X-Service-Signature':
        't=1767225600,v1=f57106ad008d87bcb9817fab564664d877f359e611e788a7c42d8d95fb706a34',
      'X-Service-Timestamp': '1767225600',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1767225600',
      'webhook-signature': 'v1,Ld5Y3k0kyadB0q843dSggAbsdMSTBZkUmRrHAx6q6k0=',
    });
  });
});
