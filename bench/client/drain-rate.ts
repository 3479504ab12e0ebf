import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { batchBody } from '../../sdk/node/src/meter/batch-body.ts';
import { createMeter } from '../../sdk/node/src/meter/meter.ts';
import { request } from '../../sdk/node/src/meter/transport.ts';
import { ulid } from '../../sdk/node/src/meter/ulid.ts';
import { openSpool } from '../../sdk/node/src/spool/spool.ts';
import type { DemoKeys } from '../../tests/support/instance.ts';

export interface Target {
  origin: string;
  keys: DemoKeys;
}

export interface DrainOptions {
  events: number;
  gzip: boolean;
}

/** Of this process; `rssPeakMib` since it began. */
export interface SendingRate {
  eventsPerSecond: number;
  cpuMicrosPerEvent: number;
  rssPeakMib: number;
}

const NOWHERE = 'http://127.0.0.1:9';
const BATCH_EVENTS = 500;
const REQUESTS = 4;
const DRAIN_MS_MAX = 600_000;
export const EVENT = {
  customerId: 'acme',
  meterId: 'api_calls',
  value: 1,
  properties: { region: 'eu', path: '/v1/chat' },
};

/** What a spool, filled while there was no server, is drained with by the next meter of its folder. */
export async function drainRate(
  { origin, keys }: Target,
  { events, gzip }: DrainOptions,
): Promise<SendingRate> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-drained-'));
  const spool = () => openSpool({ folder, bytesMax: 2 ** 31 });
  const apiKey = keys.live.secret;
  const quiet = { apiKey, onError: () => undefined };
  try {
    const filling = createMeter({ ...quiet, url: NOWHERE, spool: spool() });
    for (let at = 0; at < events; at++) {
      if (!filling.track(EVENT)) throw new Error('an event was not taken');
      if (at % BATCH_EVENTS === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await filling.close({ timeoutMs: 0 });
    const meter = createMeter({ ...quiet, url: origin, spool: spool(), gzip });
    const rate = await rateOf(events, async () => {
      const flushed = await meter.flush({ timeoutMs: DRAIN_MS_MAX });
      if (flushed.sent !== events) throw new Error(`drained ${JSON.stringify(flushed)} of ${events}`);
    });
    await meter.close();
    return rate;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The plain batch rate: this process posts batches of 500 of the same events, whose JSON was made before,
 * with the same `fetch`, as many at a time, compressed in the same way or not at all, and reads of each
 * response that all of its events were created. What the client adds to it is the spool, its checks, and its
 * care for each event.
 */
export async function plainRate({ origin, keys }: Target, options: DrainOptions): Promise<SendingRate> {
  const { events, gzip } = options;
  const batches = Array.from({ length: Math.ceil(events / BATCH_EVENTS) }, (_, at) =>
    payloadsOf(Math.min(BATCH_EVENTS, events - at * BATCH_EVENTS)),
  );
  const bodies = batches.map((payloads) => `{"events":[${payloads.join(',')}]}`);
  const url = `${origin}/api/v1/usage/events/batch`;
  const authorization = `Bearer ${keys.live.secret}`;
  let created = 0;
  const sendAll = async (): Promise<void> => {
    for (let text = bodies.pop(); text !== undefined; text = bodies.pop()) {
      const { body, headers } = await batchBody(text, gzip);
      const sent = { url, method: 'POST', headers: { authorization, ...headers }, body };
      const response = await request({ ...sent, timeoutMs: DRAIN_MS_MAX, signal: undefined });
      const { summary } = JSON.parse(response.text) as { summary: { created: number } };
      created += summary.created;
    }
  };
  return await rateOf(events, async () => {
    await Promise.all(Array.from({ length: REQUESTS }, sendAll));
    if (created !== events) throw new Error(`${created} of ${events} were created`);
  });
}

function payloadsOf(count: number): string[] {
  const occurredAt = new Date().toISOString();
  return Array.from({ length: count }, () =>
    JSON.stringify({ idempotencyKey: ulid(Date.now()), occurredAt, ...EVENT }),
  );
}

async function rateOf(events: number, act: () => Promise<void>): Promise<SendingRate> {
  const cpuBefore = process.cpuUsage();
  const beganAtMs = performance.now();
  await act();
  const tookMs = performance.now() - beganAtMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    eventsPerSecond: Math.round((events / tookMs) * 1_000),
    cpuMicrosPerEvent: Math.round(((user + system) / events) * 100) / 100,
    rssPeakMib: Math.round(process.resourceUsage().maxRSS / 1_024),
  };
}
