import { beforeEach, describe, expect, it } from 'vitest';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { at, type EndpointUnderTest, startEndpoint } from './endpoint-under-test.ts';

/*
 * The log of deliveries, and sending one of them again, over HTTP and a real Postgres; nothing
 * is sent here.
 *
 * Mutants this suite catches: an event that is on its way sent twice; the row of the endpoint not locked; one
 * WHERE environment dropped.
 */
let one: EndpointUnderTest;

const api = await apiOfThisFile();

beforeEach(async () => {
  one = await startEndpoint(api);
});

describe('the log of deliveries', () => {
  it('is of one endpoint, newest first, by the page and by status', async () => {
    const other = await one.newEndpoint();
    const [first, second, third] = [
      await one.notified(1, 'failed'),
      await one.notified(2, 'pending'),
      await one.notified(3, 'failed'),
    ];
    await one.notified(4, 'succeeded', { endpoint: other });
    const { data, total } = await one.deliveries();
    expect([total, data.map(({ id }) => id)]).toEqual([3, [third.id, second.id, first.id]]);
    expect(data[1]).toEqual({
      id: second.id,
      endpointId: one.endpointId,
      eventId: second.eventId,
      eventType: 'plan.created',
      status: 'pending',
      attemptsMade: 2,
      nextAttemptAt: expect.stringMatching(/Z$/),
      createdAt: at(2).toISOString(),
    });
    const last = await one.deliveries({ status: 'failed', pageSize: 1, page: 2 });
    expect(last.data.map(({ id }) => id)).toEqual([first.id]);
    expect(await one.deliveries({ status: 'held' })).toMatchObject({ data: [], total: 0 });
    expect((await one.deliveries({}, other)).total).toBe(1);
    await api.pool.query('UPDATE webhook_deliveries SET attempts = 0 WHERE id = $1', [second.id]);
    const fourth = await one.notified(4, 'pending');
    await one.notified(5, 'succeeded');
    const shown = async (status: string) => (await one.deliveries({ status })).data.map(({ id }) => id);
    expect(await shown('retrying')).toEqual([fourth.id]);
    expect(await shown('undelivered')).toEqual([fourth.id, third.id, second.id, first.id]);
  });

  it('shows the attempts of a delivery as they were', async () => {
    const { id } = await one.notified(1, 'failed');
    await api.pool.query(
      `INSERT INTO webhook_attempts (delivery_id, number, environment, created_at, started_at, duration_ms,
                                     status, error_code, request_head, response_head, response_body)
       VALUES ($1, 2, $2, $3, $3, 31, 500, 'status_not_2xx', 'POST / HTTP/1.1', 'HTTP/1.1 500', 'é'),
              ($1, 1, $2, $3, $3, 15000, NULL, 'timeout', 'POST / HTTP/1.1', NULL, NULL)`,
      [id, one.environment, at(1)],
    );
    const params = { deliveryId: id };
    const { body } = await api.request('webhookDeliveries.retrieve', { key: one.key, params });
    const startedAt = at(1).toISOString();
    const requestHead = 'POST / HTTP/1.1';
    expect(body.requestBody).toBe('{}');
    expect(body.attempts).toEqual([
      { number: 1, startedAt, durationMs: 15_000, errorCode: 'timeout', requestHead },
      {
        number: 2,
        startedAt,
        durationMs: 31,
        status: 500,
        errorCode: 'status_not_2xx',
        requestHead,
        responseHead: 'HTTP/1.1 500',
        responseBody: 'é',
      },
    ]);
  });

  it('is not visible in another environment, and 404 for unknown ids', async () => {
    const { id: deliveryId } = await one.notified(1, 'failed');
    const { secret: stranger } = (await api.addWorkspace()).live;
    for (const operation of ['webhookDeliveries.retrieve', 'webhookDeliveries.replay'] as const) {
      const rejected = await api.request(operation, { key: stranger, params: { deliveryId } });
      expectRejection(rejected, 'not_found', 'deliveryId');
    }
    const params = { endpointId: one.endpointId };
    for (const operation of [
      'webhookDeliveries.list',
      'webhookEndpoints.test',
      'webhookEndpoints.replay',
    ] as const) {
      const response = await api.request(operation, { key: stranger, params });
      expectRejection(response, 'endpoint_not_found', 'endpointId');
    }
    const query = { status: 'gone' };
    const unknown = await api.request('webhookDeliveries.list', { ...one.of(), query });
    expectRejection(unknown, 'invalid_request', 'status');
  });
});

describe('a delivery that is replayed', () => {
  it.each(['failed', 'held', 'succeeded'])('having %s is made again, for the same event', async (state) => {
    const { id, eventId } = await one.notified(1, state);
    const { status, body } = await one.replayed(id);
    expect([status, body.id === id]).toEqual([200, false]);
    expect(body).toMatchObject({ endpointId: one.endpointId, eventId, status: 'pending', attemptsMade: 0 });
    expect(await one.dueNow()).toEqual([eventId]);
    expect((await one.deliveries()).data.map(({ status: shown }) => shown)).toEqual(['pending', state]);
    const [, old] = (await one.deliveries()).data;
    expect(old?.replayedAs).toBe(state === 'succeeded' ? undefined : body.id);
  });

  it('while it is pending is due at once, and not twice', async () => {
    const { id, eventId } = await one.notified(1, 'pending');
    const older = await one.notified(0, 'failed', { eventId });
    expect((await one.replayed(id)).body).toMatchObject({ id, attemptsMade: 2 });
    expect((await one.replayed(older.id)).body.id).toBe(id);
    expect(await one.dueNow()).toEqual([eventId]);
  });

  it('does not wait for an open circuit, pending or new', async () => {
    const [pending, failed] = [await one.notified(1, 'pending'), await one.notified(2, 'failed')];
    await one.notified(3, 'pending');
    expect(await one.hurried()).toEqual([]);
    await one.replayed(pending.id);
    expect(await one.hurried()).toEqual([pending.eventId]);
    await one.replayed(failed.id);
    expect(await one.hurried()).toEqual([pending.eventId, failed.eventId]);
    const tested = await api.request('webhookEndpoints.test', one.of());
    expect(await one.hurried()).toContain(tested.body.eventId);
  });

  it('by many at once is made once', async () => {
    const { id } = await one.notified(1, 'failed');
    const responses = await Promise.all(Array.from({ length: 5 }, () => one.replayed(id)));
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
    expect((await one.deliveries()).total).toBe(2);
  });

  it('needs an endpoint that is there and enabled', async () => {
    const { id } = await one.notified(1, 'failed');
    await one.disable();
    expectRejection(await one.replayed(id), 'illegal_transition');
    await api.request('webhookEndpoints.delete', one.of());
    expectRejection(await one.replayed(id), 'endpoint_not_found', 'endpointId');
  });

  it('is audited under its endpoint', async () => {
    const { id } = await one.notified(1, 'failed');
    const { body } = await one.replayed(id);
    const sql = `SELECT after FROM audit_log WHERE object_id = $1 AND action = 'webhookDeliveries.replay'`;
    const { rows } = await api.pool.query(sql, [one.endpointId]);
    expect(rows).toEqual([{ after: { replayed: id, as: body.id } }]);
  });
});
