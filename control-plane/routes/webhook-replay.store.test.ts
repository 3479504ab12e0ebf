import { beforeEach, describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../schemas/events.ts';
import { startStopwatch } from '../../tests/support/stopwatch.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { at, type EndpointUnderTest, startEndpoint } from './endpoint-under-test.ts';

/*
 * Sending an endpoint the events of a time range again, or a test event.
 *
 * Mutants this suite catches: one that arrived replayed as a failure; the end of the range included; an event
 * that is on its way doubled; no bound to one call; an event read by its environment; a test sent to every
 * endpoint.
 */
let one: EndpointUnderTest;

const api = await apiOfThisFile();

beforeEach(async () => {
  one = await startEndpoint(api);
});

const replay = (body: object) => api.request('webhookEndpoints.replay', { ...one.of(), body });
const span = (from: number, to: number) => ({ from: at(from).toISOString(), to: at(to).toISOString() });
const test = (body: object = {}, id?: string) =>
  api.request('webhookEndpoints.test', { ...one.of(id), body });

describe('a time that is replayed', () => {
  it('is delivered again in its order, from its beginning up to its end', async () => {
    const events = [];
    for (const second of [0, 1, 2, 3]) events.push((await one.notified(second, 'succeeded')).eventId);
    expect((await replay(span(1, 3))).body).toEqual({ replayed: 2, hurried: 0 });
    expect(await one.dueNow()).toEqual(events.slice(1, 3));
    expect((await one.deliveries()).data.some(({ replayedAs }) => replayedAs)).toBe(false);
  });

  it('leaves out what arrived where only failures are requested', async () => {
    const failed = await one.notified(1, 'failed');
    const held = await one.notified(2, 'held');
    await one.notified(3, 'succeeded');
    const arrived = await one.notified(4, 'failed');
    await one.notified(5, 'succeeded', { eventId: arrived.eventId });
    expect((await replay({ ...span(0, 9), onlyFailed: true })).body).toEqual({ replayed: 2, hurried: 0 });
    expect(await one.dueNow()).toEqual([failed.eventId, held.eventId]);
    const shown = (await one.deliveries()).data;
    const newOf = (eventId: string) => shown.find((d) => d.eventId === eventId && d.status === 'pending')?.id;
    const replayedOf = (id: string) => shown.find((d) => d.id === id)?.replayedAs;
    expect(replayedOf(failed.id)).toBe(newOf(failed.eventId) ?? 'none');
    expect(replayedOf(held.id)).toBe(newOf(held.eventId) ?? 'none');
    expect(replayedOf(arrived.id)).toBeUndefined();
    const left = (await one.deliveries({ status: 'undelivered' })).data.map(({ id }) => id);
    expect(left.sort()).toEqual([newOf(failed.eventId), newOf(held.eventId), arrived.id].sort());
  });

  it('doubles nothing that is on its way, and hurries it', async () => {
    const waiting = await one.notified(1, 'pending');
    const failed = await one.notified(2, 'failed');
    expect((await replay(span(0, 9))).body).toEqual({ replayed: 1, hurried: 1 });
    expect((await replay(span(0, 9))).body).toEqual({ replayed: 0, hurried: 0 });
    expect(await one.dueNow()).toEqual([waiting.eventId, failed.eventId]);
    expect(await one.hurried()).toEqual([]);
    expect((await one.deliveries()).total).toBe(3);
  });

  it('leaves what is being tried just now to its attempt', async () => {
    const { id } = await one.notified(1, 'pending');
    await api.pool.query(
      `UPDATE webhook_queue SET owner = 'x', lease_until = now() + interval '30 seconds'
        WHERE delivery_id = $1`,
      [id],
    );
    expect((await replay(span(0, 9))).body).toEqual({ replayed: 0, hurried: 0 });
    expect((await one.replayed(id)).body.id).toBe(id);
    expect([await one.dueNow(), await one.hurried()]).toEqual([[], []]);
  });

  it('is of one endpoint', async () => {
    const other = await one.newEndpoint();
    await one.notified(1, 'failed', { endpoint: other });
    await one.notified(2, 'pending', { endpoint: other });
    expect((await replay(span(0, 9))).body).toEqual({ replayed: 0, hurried: 0 });
  });

  it('of more than 10,000 events continues at nextFrom', async () => {
    await one.notifiedMany(10_050, 'failed');
    const passedMs = startStopwatch();
    const first = (await replay({ ...span(0, 99), onlyFailed: true })).body;
    expect(passedMs()).toBeLessThan(5_000);
    expect(first).toEqual({ replayed: 10_000, hurried: 0, nextFrom: at(10.001).toISOString() });
    const rest = (await replay({ ...span(0, 99), from: first.nextFrom, onlyFailed: true })).body;
    expect(rest).toEqual({ replayed: 50, hurried: 0 });
    expect((await one.deliveries({ status: 'pending' })).total).toBe(10_050);
  });

  it('with more than 10,000 pending runs in order, and nothing twice', async () => {
    await one.notifiedMany(10_050, 'pending');
    const early = await one.notified(5, 'succeeded');
    const late = await one.notified(60, 'succeeded');
    const first = (await replay(span(0, 99))).body;
    expect(first).toEqual({ replayed: 1, hurried: 10_000, nextFrom: at(10).toISOString() });
    const rest = (await replay({ ...span(0, 99), from: first.nextFrom })).body;
    expect(rest).toEqual({ replayed: 1, hurried: 50 });
    const due = await one.dueNow();
    expect([due.length, due.includes(early.eventId), due.at(-1)]).toEqual([10_052, true, late.eventId]);
  });

  it('of 10,000 events takes no longer where statistics know only of others', async () => {
    await one.notifiedMany(10_000, 'pending');
    for (let others = 0; others < 20; others++) await (await startEndpoint(api)).notified(1, 'pending');
    for (const table of ['events', 'queue', 'deliveries']) await api.pool.query(`ANALYZE webhook_${table}`);
    one = await startEndpoint(api);
    await one.notifiedMany(10_000, 'pending');
    const passedMs = startStopwatch();
    expect((await replay(span(0, 99))).status).toBe(200);
    expect(passedMs()).toBeLessThan(5_000);
  });

  it('needs an enabled endpoint, and a span', async () => {
    for (const [body, param] of [
      [{ from: at(0).toISOString() }, 'to'],
      [{ to: at(0).toISOString() }, 'from'],
      [span(2, 1), 'to'],
      [span(1, 1), 'to'],
      [{ ...span(0, 1), onlyFailed: 'yes' }, 'onlyFailed'],
    ] as const) {
      expectRejection(await replay(body), 'invalid_request', param);
    }
    await one.disable();
    expectRejection(await replay(span(0, 1)), 'illegal_transition');
  });
});

describe('an endpoint that is tried', () => {
  it.each(EVENT_TYPES)('with %s is sent an example of it, which did not happen', async (type) => {
    const other = await one.newEndpoint();
    const { status, body } = await test({ type });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      endpointId: one.endpointId,
      eventType: type,
      status: 'pending',
      attemptsMade: 0,
    });
    expect(body.eventId).toMatch(/^evt_testevent[a-z2-7]{17}$/);
    const event = await api.request('webhookEvents.retrieve', {
      key: one.key,
      params: { eventId: body.eventId },
    });
    expect(event.body).toMatchObject({ id: body.eventId, type, workspace_id: one.environment.split(':')[0] });
    expect(Object.keys(event.body)).toEqual(['id', 'type', 'workspace_id', 'created_at', 'data']);
    expect(event.text).toContain('example');
    expect((await api.request('webhookEvents.list', { key: one.key })).body.total).toBe(0);
    const sql = 'SELECT fanned_out FROM webhook_events WHERE id = $1';
    expect((await api.pool.query(sql, [body.eventId])).rows).toEqual([{ fanned_out: true }]);
    expect((await one.deliveries({}, other)).total).toBe(0);
  });

  it('is sent what it selected by default', async () => {
    const typeOf = async (events: string[]) => (await test({}, await one.newEndpoint(events))).body.eventType;
    expect(await typeOf(['plan.archived', 'plan.created'])).toBe('plan.created');
    expect(await typeOf(['*'])).toBe('customer.created');
  });

  it('is not sent its tests again with a time', async () => {
    await test();
    await api.pool.query(`UPDATE webhook_deliveries SET state = 'failed' WHERE environment = $1`, [
      one.environment,
    ]);
    await api.pool.query('DELETE FROM webhook_queue WHERE environment = $1', [one.environment]);
    const all = { from: '2020-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' };
    expect((await replay(all)).body).toEqual({ replayed: 0, hurried: 0 });
    const [tested] = (await one.deliveries()).data;
    expect((await one.replayed(tested?.id ?? '')).body.status).toBe('pending');
  });

  it('needs to be enabled', async () => {
    await one.disable();
    expectRejection(await test(), 'illegal_transition');
    expectRejection(await test({ type: 'plan.deleted' }), 'invalid_request', 'type');
  });
});
