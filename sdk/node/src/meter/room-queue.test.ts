import { describe, expect, it } from 'vitest';
import { startBatchServer } from './batch-server-under-test.ts';
import { event, keyed, openMeter } from './meter-under-test.ts';
import type { UsageEvent } from './usage-event.ts';

describe('a caller that waits for room', () => {
  it('gets it in its turn, as soon as there is some', async () => {
    const server = await startBatchServer();
    const { meter } = openMeter({ url: server.url, memory: { eventsMax: 10 }, batchEventsMax: 7 });
    const done: string[] = [];
    const wait = async (one: UsageEvent) => {
      expect(await meter.trackWhenRoom(one, { timeoutMs: 10_000 })).toBe(true);
      done.push(one.idempotencyKey ?? '');
    };
    await Promise.all(keyed(100).map(wait));
    expect(done).toEqual(keyed(100).map(({ idempotencyKey }) => idempotencyKey));
    await meter.flush();
    expect(server.created).toHaveLength(100);
    expect(meter.stats()).toMatchObject({ dropped: 0 });
  });

  it('gets false when there is none in time, and does not hold up a smaller event', async () => {
    const server = await startBatchServer();
    server.always(() => true);
    const { meter } = openMeter({ url: server.url, memory: { bytesMax: 1_000 }, lingerMs: 60_000 });
    const large = meter.trackWhenRoom(event({ properties: { x: 'x'.repeat(2_000) } }), { timeoutMs: 20 });
    const small = meter.trackWhenRoom(event(), { timeoutMs: 10_000 });
    expect(await Promise.all([large, small])).toEqual([false, true]);
    for (let at = 0; at < 20; at++) meter.track(event());
    const closed = meter.trackWhenRoom(event(), { timeoutMs: 10_000 });
    await meter.close({ timeoutMs: 0 });
    expect(await closed).toBe(false);
  });
});
