import { expect, it } from 'vitest';
import { seenInTime } from '../../../../tests/support/in-time.ts';
import { errorBody, resultsOf, sendJson, startBatchServer } from './batch-server-under-test.ts';
import { event, IN_TIME, json, keyed, openMeter } from './meter-under-test.ts';

/** Of each batch, what is of the customer `out` is unavailable while `isOut`. */
async function serverWithoutOne() {
  const server = await startBatchServer();
  const state = { isOut: true, stored: new Set<string>() };
  server.always(({ response, items }) => {
    const { results } = resultsOf(items);
    for (const [at, { customerId, idempotencyKey }] of items.entries()) {
      if (customerId !== 'out' || !state.isOut) state.stored.add(idempotencyKey);
      else results[at] = { ...results[at], status: 'error', ...errorBody('unavailable') } as never;
    }
    sendJson(response, 200, { results });
    return true;
  });
  return { server, state };
}

it('one customer that is unavailable holds up no other, and its events wait for it', async () => {
  const { server, state } = await serverWithoutOne();
  // Room for what waits, and not for the others that were sent with it.
  const memory = { eventsMax: 150 };
  const { meter, rejected } = openMeter({ url: server.url, batchEventsMax: 10, memory });
  for (let batch = 0; batch < 40; batch++) {
    meter.track(event({ customerId: 'out', idempotencyKey: `out-${batch}` }));
    for (let at = 0; at < 9; at++) meter.track(event({ idempotencyKey: `well-${batch}-${at}` }));
    const wells = (batch + 1) * 9;
    await seenInTime(() => meter.stats().sent === wells || undefined, IN_TIME, `batch ${batch}`);
  }
  expect(meter.stats()).toMatchObject({ waiting: 40, dropped: 0, sent: 360 });
  state.isOut = false;
  expect(await meter.flush()).toMatchObject({ sent: 40, waiting: 0 });
  expect([state.stored.size, rejected]).toEqual([400, []]);
});

it('what is tracked while an event waits for long is sent after the linger, not with it', async () => {
  const { server, state } = await serverWithoutOne();
  const retry = { firstMs: 3_600_000, lastMs: 3_600_000 };
  const { meter } = openMeter({ url: server.url, retry });
  meter.track(event({ customerId: 'out' }));
  await seenInTime(() => meter.stats().retries === 1 || undefined, IN_TIME, 'the first');
  for (const one of keyed(3)) {
    const { sent } = meter.stats();
    meter.track(one);
    await seenInTime(() => meter.stats().sent === sent + 1 || undefined, IN_TIME, 'the other');
  }
  expect(state.stored.size).toBe(3);
});

it('a batch that the server fails at is sent in parts, until the event at fault is alone', async () => {
  const server = await startBatchServer();
  server.always(({ response, items }) => {
    const isFailing = items.some(({ idempotencyKey }) => idempotencyKey === 'k-77');
    if (isFailing) sendJson(response, 500, errorBody('internal'));
    return isFailing;
  });
  const { meter, problems, rejected } = openMeter({ url: server.url });
  for (const one of keyed(100)) meter.track(one);
  await seenInTime(() => meter.stats().sent === 99 || undefined, IN_TIME, 'all others');
  expect([new Set(server.created).size, rejected]).toEqual([99, []]);
  expect(problems.map(({ code }) => code)).toEqual(['internal']);
});

it('after a body that was changed on its way, the next ones are not compressed', async () => {
  const server = await startBatchServer();
  server.script(json(400, errorBody('invalid_gzip')));
  const { meter } = openMeter({ url: server.url, gzip: true });
  for (const one of keyed(100)) meter.track(one);
  expect(await meter.flush()).toMatchObject({ sent: 100, rejected: 0 });
  const encodings = server.requests.map(({ headers }) => headers['content-encoding']);
  expect(encodings).toEqual(['gzip', undefined]);
});
