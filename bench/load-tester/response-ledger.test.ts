import { describe, expect, it } from 'vitest';
import type { PlannedSend } from '../../tests/support/load-body.ts';
import type { LoadResponse } from '../../tests/support/load-connection.ts';
import { createResponseLedger } from './response-ledger.ts';

/** Three events of two customers; the last one was sent before. */
const SEND: PlannedSend = {
  request: Buffer.alloc(0),
  kind: 'batch',
  replayed: Uint8Array.from([0, 0, 1]),
  customers: Uint16Array.from([0, 1, 1]),
  thousandths: Uint32Array.from([1_500, 20, 7_000]),
};
const SINGLE: PlannedSend = {
  request: Buffer.alloc(0),
  kind: 'single',
  replayed: Uint8Array.from([0]),
  customers: Uint16Array.from([1]),
  thousandths: Uint32Array.from([250]),
};

function batchResponse(...statuses: string[]): LoadResponse {
  const count = (status: string) => statuses.filter((one) => one === status).length;
  const summary = {
    total: statuses.length,
    created: count('created'),
    duplicate: count('duplicate'),
    errors: statuses.length - count('created') - count('duplicate'),
  };
  const results = statuses.map((status, index) => {
    const isFine = status === 'created' || status === 'duplicate';
    return isFine ? { index, status } : { index, status: 'error', error: { code: status } };
  });
  return { status: 200, replayed: false, body: Buffer.from(JSON.stringify({ summary, results })) };
}

describe('the response ledger', () => {
  it('books new events by customer, and a replay not again', () => {
    const ledger = createResponseLedger(2);
    expect(ledger.responded(SEND, batchResponse('created', 'created', 'duplicate'), false)).toBe('booked');
    expect(ledger.faults()).toEqual([]);
    expect(ledger.counts()).toMatchObject({ created: 2, duplicate: 1, rejected: 0 });
    expect(ledger.tallies().map(({ acknowledged }) => acknowledged)).toEqual([
      { events: 1, thousandths: 1_500 },
      { events: 1, thousandths: 20 },
    ]);
  });

  // Fault this catches: a server whose summary is right and whose items are not, or that counts a replay.
  it.each([
    ['a replay that is created', ['created', 'created', 'created']],
    ['a new event that is a duplicate', ['created', 'duplicate', 'duplicate']],
    ['statuses in another order', ['duplicate', 'created', 'created']],
    ['fewer results than items', ['created', 'duplicate']],
    ['a rejected item', ['created', 'event_in_future', 'duplicate']],
  ])('calls %s a fault', (_, statuses) => {
    const ledger = createResponseLedger(2);
    ledger.responded(SEND, batchResponse(...statuses), false);
    expect(ledger.faults()).toHaveLength(1);
  });

  it('expects of what was sent again only that nothing is created twice', () => {
    const ledger = createResponseLedger(2);
    ledger.responded(SEND, batchResponse('duplicate', 'created', 'duplicate'), true);
    expect(ledger.faults()).toEqual([]);
    expect(ledger.tallies()[0]?.acknowledged.events).toBe(1);
    ledger.responded(SEND, batchResponse('created', 'created', 'created'), true);
    expect(ledger.faults()).toHaveLength(1);
  });

  it('has a batch repeated of which an item could not be looked up, and books none of it', () => {
    const ledger = createResponseLedger(2);
    expect(ledger.responded(SEND, batchResponse('created', 'unavailable', 'duplicate'), false)).toBe(
      'repeat',
    );
    expect(ledger.counts()).toMatchObject({ created: 0, duplicate: 0, rejected: 0 });
  });

  it('does not count a rejected item, and names the code', () => {
    const ledger = createResponseLedger(2);
    ledger.responded(SEND, batchResponse('created', 'event_too_old', 'duplicate'), false);
    expect(ledger.faults()[0]).toContain('event_too_old');
    expect(ledger.tallies()[1]?.acknowledged.events).toBe(0);
  });

  it('counts requests without a response separately', () => {
    const ledger = createResponseLedger(2);
    ledger.withoutResponse(SEND);
    expect(ledger.counts()).toMatchObject({ created: 0, withoutResponse: 3 });
    expect(ledger.tallies()[1]).toMatchObject({
      acknowledged: { events: 0 },
      uncertain: { events: 1, thousandths: 20 },
    });
  });

  it('reads single responses by status and header', () => {
    const ledger = createResponseLedger(2);
    ledger.responded(SINGLE, { status: 201, replayed: false, body: Buffer.from('{}') }, false);
    expect(ledger.faults()).toEqual([]);
    ledger.responded(SINGLE, { status: 201, replayed: true, body: Buffer.from('{}') }, false);
    ledger.responded(SINGLE, { status: 404, replayed: false, body: Buffer.from('{"error":1}') }, false);
    expect(ledger.faults()).toHaveLength(2);
    expect(ledger.counts()).toMatchObject({ created: 1, duplicate: 1, rejected: 1 });
  });

  it('keeps the first faults and counts the others', () => {
    const ledger = createResponseLedger(2);
    for (let at = 0; at < 30; at++) ledger.responded(SEND, batchResponse('created'), false);
    expect(ledger.faults()).toHaveLength(21);
    expect(ledger.faults().at(-1)).toBe('and 10 more');
  });
});
