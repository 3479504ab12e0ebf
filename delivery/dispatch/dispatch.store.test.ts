import { describe, expect, it } from 'vitest';
import { ATTEMPT_DELAYS_MS } from '../../domain/rules/webhook-schedule.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { deliveryUnderTest, type Script, START_MS, soon } from '../delivery-under-test.ts';
import type { Attempt } from '../send/send.ts';
import { LEASE_MS } from './take-jobs.ts';

const FAILED: Partial<Attempt> = { outcome: 'failed', status: 500, errorCode: 'status_not_2xx' };
const DAY_MS = 86_400_000;

/** The script of the endpoints, by name; the others succeed. */
function scripted(scripts: Record<string, Script>): Script {
  return (request) => scripts[request.url.split('/').at(-1) ?? '']?.(request) ?? {};
}

describe('a delivery', () => {
  it('is sent once, with the bytes of its event, and has succeeded with an attempt to show', async () => {
    const { pool, environment, endpoint, event, deliveries, sent, run } = await deliveryUnderTest();
    await endpoint();
    run();
    const [eventId] = await event();
    await soon(async () => expect(await deliveries()).toMatchObject([{ state: 'succeeded', attempts: 1 }]));
    expect(sent).toMatchObject([
      { eventId, body: `{"id":"${eventId}"}`, secrets: ['whsec_dGVzdA=='], attemptNumber: 1 },
    ]);
    const { rows } = await pool.query('SELECT * FROM webhook_attempts');
    expect(rows).toMatchObject([{ number: 1, environment, request_head: 'POST', duration_ms: 1 }]);
    expect((await deliveries())[0]).toMatchObject({ dueAtMs: null, owner: null });
  });

  /**
   * Red when a delay is another one, is not counted from the end of the attempt, or an attempt is forgotten.
   */
  it('that fails is tried ten times, each at its time and not before, and then has failed', async () => {
    const { endpoint, event, deliveries, sentTo, clock, run } = await deliveryUnderTest(
      scripted({ bad: () => FAILED }),
    );
    await endpoint({ name: 'bad', events: ['plan.created'] });
    await endpoint({ name: 'good', events: ['customer.created'] });
    run();
    await event({ type: 'plan.created' });
    let rounds = 0;
    const round = async () => {
      await event({ type: 'customer.created' });
      rounds += 1;
      await soon(() => expect(sentTo('good')).toHaveLength(rounds));
    };
    let endedAtMs = START_MS;
    for (const [made, delayMs] of ATTEMPT_DELAYS_MS.entries()) {
      if (made > 0) {
        clock.ms = endedAtMs + delayMs - 1;
        await round();
        expect(sentTo('bad')).toHaveLength(made);
        clock.ms += 1;
      }
      await soon(() => expect(sentTo('bad')).toHaveLength(made + 1));
      await soon(async () => expect((await bad())?.attempts).toBe(made + 1));
      endedAtMs = clock.ms;
    }
    expect(await bad()).toMatchObject({ state: 'failed', dueAtMs: null });
    expect(sentTo('bad').map(({ attemptNumber }) => attemptNumber)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(new Set(sentTo('bad').map(({ eventId, body }) => eventId + body)).size).toBe(1);
    clock.ms += 10 * DAY_MS;
    await round();
    expect(sentTo('bad')).toHaveLength(10);

    async function bad() {
      const ids = new Set(sentTo('bad').map(({ eventId }) => eventId));
      return (await deliveries()).find(({ eventId }) => ids.has(eventId));
    }
  });

  it('is delayed when its receiver requests it', async () => {
    const { endpoint, event, deliveries, run } = await deliveryUnderTest(() => {
      return { ...FAILED, retryAfterMs: 7_000 };
    });
    await endpoint();
    run();
    await event();
    await soon(async () => expect(await deliveries()).toMatchObject([{ dueAtMs: START_MS + 7_000 }]));
  });

  /** Red with the mutant delivery-marked-before-sent. */
  it('whose process dies in the middle of its attempt is sent again, under the same id', async () => {
    const hang = deferred<Partial<Attempt>>();
    const { endpoint, event, deliveries, sent, clock, run } = await deliveryUnderTest(() => {
      return sent.length === 1 ? hang.promise : {};
    });
    await endpoint();
    const first = run({ owner: 'gone' });
    const [eventId] = await event();
    await soon(() => expect(sent).toHaveLength(1));
    void first.close();
    run({ owner: 'other' });
    await event();
    await soon(() => expect(sent).toHaveLength(2));
    expect(sent[1]?.eventId).not.toBe(eventId);
    expect(await deliveries()).toContainEqual(
      expect.objectContaining({ eventId, owner: 'gone', attempts: 0 }),
    );
    clock.ms += LEASE_MS;
    await soon(() => expect(sent.map((one) => one.eventId).filter((id) => id === eventId)).toHaveLength(2));
    await soon(async () =>
      expect((await deliveries()).map(({ state }) => state)).toEqual(Array(2).fill('succeeded')),
    );
    hang.resolve({});
  });
});
