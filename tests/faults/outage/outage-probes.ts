import { setTimeout as pass } from 'node:timers/promises';
import { type KnownLoad, silenceOf } from './known-load.ts';
import type { OutageScenario, StoreName } from './outage-scenario.ts';

/** A request that is sent while a store is unavailable, and the response it must receive. */
export interface Probe {
  name: string;
  path: string;
  /** A GET without one. */
  body?: string;
  headers?: Record<string, string>;
  /** Time for the whole response. */
  limitMs: number;
  isRight(status: number, body: string): boolean;
  /** The response may be so old: until then an outage may not show. Default 0. */
  ageMsMax?: number;
}

/** A strong read waits 5 s; the rest is for a machine at work. */
const SLACK_MS = 1_500;
/** Source: infra/platform/circuit-breaker.ts. */
const LOOKUP_MS = 2_000;
const READ_MS = 5_000;
/** Source: control-plane/health/readiness.ts, and the data plane's patience with it. */
const READINESS_MS = 3_000;
/** Source: control-plane/store/read-breakdown.ts, after the second that a read waits by default. */
const BREAKDOWN_MS = 16_000;

/** Whether slow probes are sent too; `ages`: longer than a known key is trusted. */
export type Patience = 'none' | 'strong' | 'all' | 'ages';

/** What must hold at any time of an outage. */
export function probesOf(scenario: OutageScenario, store: StoreName, patience: Patience): Probe[] {
  const { judged } = scenario;
  const usage = `/api/v1/usage/${judged.world.customers[0]?.id}/api_calls`;
  const read = (name: string, path: string, waitMs: number): Probe => {
    return { name, path: usage + path, limitMs: waitMs + SLACK_MS, isRight: isUnavailable };
  };
  const isPatient = patience === 'all' || patience === 'ages';
  return [
    { name: 'healthz', path: '/healthz', limitMs: SLACK_MS, isRight: isOk },
    {
      ...{ name: 'readyz', path: '/readyz', ageMsMax: READINESS_AGE_MS, limitMs: READINESS_MS + SLACK_MS },
      isRight(status, body) {
        const { checks } = JSON.parse(body) as { checks?: Record<string, { ok: boolean }> };
        return status === 503 && checks?.[store]?.ok === false;
      },
    },
    read('a read with consistency eventual', '?consistency=eventual', READ_MS),
    ...(patience === 'none' ? [] : [read('a read with consistency strong', '?consistency=strong', READ_MS)]),
    ...(isPatient ? [read('an ordinary read', '', 1_000 + READ_MS)] : []),
    ...(isPatient ? [read('a breakdown', '/breakdown?dimension=user', BREAKDOWN_MS)] : []),
    ...(store === 'postgres' ? strangers(scenario, patience === 'ages') : []),
  ];
}

/** The control plane keeps its outcome for a second, and the data plane that page for another. */
const READINESS_AGE_MS = 2_000;

const BATCH_PATH = '/api/v1/usage/events/batch';
const EMPTY_BATCH = '{"events":[]}';

/** An API key, and a customer by either endpoint, that the data plane has never looked up. */
function strangers({ instance }: OutageScenario, keysForgotten: boolean): Probe[] {
  const key = instance.keys().test.secret;
  const event = { customerId: 'unknown-customer', meterId: 'api_calls', value: 1 };
  const limitMs = LOOKUP_MS + SLACK_MS;
  return [
    {
      ...{ name: 'an unknown API key', path: BATCH_PATH, limitMs, isRight: isUnavailable },
      body: EMPTY_BATCH,
      headers: { authorization: `Bearer ${key}` },
    },
    {
      ...{ name: 'an unknown customer in a batch', path: BATCH_PATH, limitMs },
      body: JSON.stringify({ events: [{ ...event, idempotencyKey: 'stranger' }] }),
      isRight: (status, body) =>
        (status === 200 || (keysForgotten && status === 503)) && body.includes(UNAVAILABLE),
    },
    {
      ...{ name: 'an unknown customer', path: '/api/v1/usage/events', limitMs, isRight: isUnavailable },
      body: JSON.stringify(event),
      headers: { 'idempotency-key': 'stranger' },
    },
  ];
}

function isOk(status: number): boolean {
  return status === 200;
}

const UNAVAILABLE = '"code":"unavailable"';

function isUnavailable(status: number, body: string): boolean {
  return status === 503 && body.includes(UNAVAILABLE);
}

/** What is wrong with the response, as a sentence; and how long it took. */
export async function sendProbe(
  { instance }: OutageScenario,
  { name, path, body, headers, limitMs, isRight }: Probe,
): Promise<{ problem: string | undefined; tookMs: number }> {
  const startedAt = performance.now();
  const outcome = await fetch(`${instance.origin}${path}`, {
    headers: {
      authorization: `Bearer ${instance.keys().live.secret}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { method: 'POST', body }),
    signal: AbortSignal.timeout(limitMs),
  }).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    (error: Error) => error,
  );
  const tookMs = Math.round(performance.now() - startedAt);
  if (outcome instanceof Error) return { problem: `${name}: ${outcome.message} after ${tookMs} ms`, tookMs };
  const { status, text } = outcome;
  return { problem: isRight(status, text) ? undefined : `${name}: ${status} ${text}`, tookMs };
}

/** A known key is trusted for ten minutes without Postgres. */
const TRUSTED_MS = 600_000;
export const LONG_OUTAGE_MS = TRUSTED_MS + 45_000;
/** The clock of a key begins with its last lookup, up to nine seconds before Postgres failed. */
const UNSURE_MS = 15_000;
const KNOWN_KEY = { path: BATCH_PATH, body: EMPTY_BATCH, limitMs: 5_000 };

/** Before ten minutes of an outage known keys are acknowledged, after them they are 503 `unavailable`. */
export async function judgeLongOutage(
  scenario: OutageScenario,
  { load, outageAt }: { load: KnownLoad; outageAt: number },
): Promise<string[]> {
  const reach = (atMs: number) => pass(Math.max(0, outageAt + atMs - performance.now()));
  await reach(TRUSTED_MS - UNSURE_MS);
  const early = await sendProbe(scenario, { ...KNOWN_KEY, name: 'before ten minutes', isRight: isOk });
  const silence = silenceOf(load);
  await reach(TRUSTED_MS + UNSURE_MS);
  const late = await sendProbe(scenario, { ...KNOWN_KEY, name: 'after ten minutes', isRight: isUnavailable });
  return [early.problem, silence, late.problem].flatMap((problem) => problem ?? []);
}
