import { expect } from 'vitest';
import type { ApiResponse, ApiUnderTest } from '../api-under-test.ts';
import { customerGrantsUnderTest } from '../entitlements/customer-grants-under-test.ts';

/** Reservations of a metered feature `calls`, and of `tokens`, which credits pay beyond its limit. */
export async function reservationsUnderTest(api: ApiUnderTest) {
  const made = customerGrantsUnderTest(api);
  await made.feature('calls', 'metered', 'sum');
  await api.request('meters.create', {
    body: { key: 'tokens', name: 'tokens', aggregation: 'sum', creditRate: 0.5 },
  });
  await api.request('meters.create', {
    body: { key: 'minutes', name: 'minutes', aggregation: 'sum', creditRate: 2 },
  });
  await made.feature('tokens', 'metered', 'tokens');
  await made.feature('minutes', 'metered', 'minutes');

  async function customerWith(given: Record<string, number>, credits = 0): Promise<string> {
    const customerId = await made.customer();
    await made.subscribe(customerId, given);
    if (credits > 0) {
      const body = { amount: credits, reason: 'test' };
      expect((await api.request('credits.grant', { params: { customerId }, body })).status).toBe(201);
    }
    return customerId;
  }

  const hold = (customerId: string, amount: number, more: object = {}, headers = {}): Promise<ApiResponse> =>
    api.request('reservations.create', {
      body: { customerId, featureKey: 'calls', amount, ...more },
      headers,
    }) as Promise<ApiResponse>;

  return {
    ...made,
    customerWith,
    hold,
    /** Its reservation; fails the test unless it is granted. */
    async held(customerId: string, amount: number, more: object = {}) {
      const { status, text, body } = await hold(customerId, amount, more);
      expect(status, text).toBe(201);
      return body;
    },
    release: (reservationId: string): Promise<ApiResponse> =>
      api.request('reservations.release', { params: { reservationId } }) as Promise<ApiResponse>,
    patch: (reservationId: string, body: object): Promise<ApiResponse> =>
      api.request('reservations.update', { params: { reservationId }, body }) as Promise<ApiResponse>,
    get: async (reservationId: string) =>
      (await api.request('reservations.retrieve', { params: { reservationId } })).body,
    /** Of an account and of its reservations, which have to agree. */
    async ledger(customerId: string) {
      const { rows } = await api.pool.query<{ account: number; open: number; granted: number }>(
        `SELECT coalesce((SELECT sum(held) FROM reserved_amounts WHERE customer_id = $1), 0)::float
                  AS account,
                coalesce(sum(amount) FILTER (WHERE status = 'held'), 0)::float AS open,
                count(*) AS granted
           FROM reservations WHERE customer_id = $1`,
        [customerId],
      );
      return rows[0];
    },
  };
}
