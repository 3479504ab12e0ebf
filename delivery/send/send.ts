import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { buildConnector } from 'undici';
import { parseUrl } from '../../infra/platform/parse-url.ts';
import type { PrivateTargets } from '../../infra/platform/private-targets.ts';
import { type Clock, systemClock } from '../../infra/ports/clock.ts';
import type { AttemptError } from '../../schemas/stored/webhook-attempt.ts';
import { AttemptFailed } from './attempt-failed.ts';
import { type AttemptResult, type Post, sendAttempt } from './delivery-attempt.ts';
import { checkedAddresses, type ResolveName } from './endpoint-guard.ts';
import { createPinnedPools, type PinnedPools } from './pinned-pools.ts';
import { createResolveName } from './resolve-name.ts';
import { retryAfterMsOf } from './retry-after.ts';
import { signatureHeaders } from './sign.ts';

/** Makes single attempts. What to send and when, and what follows, is decided elsewhere. */
export interface Send {
  /** Never rejects, and lasts no longer than an attempt may. */
  send(request: SendRequest): Promise<Attempt>;
  /** Attempts in flight end as failed. */
  close(): Promise<void>;
}

export interface SendRequest {
  url: string;
  eventId: string;
  /** Exactly as it is signed and sent. */
  body: string;
  /** Newest first. */
  secrets: readonly string[];
  /** The addresses that may be sent to in addition to public ones, for the environment of the event. */
  privateTargets: PrivateTargets;
  /** 1 for the first. */
  attemptNumber: number;
}

export interface Attempt {
  /** `gone`: the receiver responded with 410, it wants nothing more. */
  outcome: 'succeeded' | 'failed' | 'gone';
  /** The status of the response, when one came. */
  status?: number;
  /** Of what did not succeed. */
  errorCode?: AttemptError;
  durationMs: number;
  /** First line and headers, as they are shown to people: it holds no secret. */
  requestHead: string;
  responseHead?: string;
  /** The beginning of it, up to 4 KiB. */
  responseBody?: string;
  retryAfterMs?: number;
}

export interface SendOptions {
  log: Logger;
  clock?: Clock;
  resolve?: ResolveName;
  /** Opens a connection to the address in `hostname`. */
  connect?: buildConnector.connector;
  attemptTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
export const ATTEMPT_TIMEOUT_MS = 15_000;

/** Blips of the set-up of a connection are tried again within the attempt, for so long. */
const BLIPS_MS = 2_000;
const BLIP_RETRIES = 2;
const BLIP_DELAY_MS = 100;

export function createSend({
  log,
  clock = systemClock,
  resolve = createResolveName(),
  connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, rejectUnauthorized: true }),
  attemptTimeoutMs = ATTEMPT_TIMEOUT_MS,
}: SendOptions): Send {
  const pools = createPinnedPools(connect);

  async function deliver(parts: Parts): Promise<AttemptResult> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), attemptTimeoutMs);
    try {
      return await overFirstConnection(parts, { pools, resolve, signal: late.signal });
    } catch (err) {
      if (err instanceof AttemptFailed) return { failure: err.code };
      log.error({ err, eventId: parts.eventId }, 'an attempt failed in a way that is not foreseen');
      return { failure: 'internal' };
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async send(request) {
      const startedMs = performance.now();
      const parts = partsOf(request, clock.nowMs());
      const attempt = attemptOf(await deliver(parts), clock.nowMs());
      const durationMs = Math.round(performance.now() - startedMs);
      return { ...attempt, durationMs, requestHead: requestHeadOf(parts) };
    },

    close: () => pools.close(),
  };
}

interface Parts {
  eventId: string;
  url: URL | undefined;
  post: Post;
  privateTargets: PrivateTargets;
}

function partsOf(request: SendRequest, atMs: number): Parts {
  const { eventId, secrets, attemptNumber, privateTargets } = request;
  const url = parseUrl(request.url);
  const body = Buffer.from(request.body);
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Metergate-Webhooks/1',
    'X-Service-Attempt': String(attemptNumber),
    // mutant: body-re-serialised-before-signing
    ...signatureHeaders({ eventId, body, secrets, atMs }),
  };
  return {
    eventId,
    url,
    post: { path: url ? `${url.pathname}${url.search}` : '', headers, body },
    privateTargets,
  };
}

/** As it is sent, but for what every request to this receiver has: `Connection` and `Content-Length`. */
function requestHeadOf({ url, post }: Parts): string {
  const lines = Object.entries(post.headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${post.path} HTTP/1.1`, `Host: ${url?.host ?? ''}`, ...lines].join('\n');
}

interface Means {
  pools: PinnedPools;
  resolve: ResolveName;
  signal: AbortSignal;
}

/**
 * A failure before the first byte was sent reached no receiver, and may be over soon: it is retried within
 * the attempt, each time with addresses that are resolved and checked again. A request of which a byte may
 * have reached the receiver counts as an attempt.
 */
function overFirstConnection({ url, post, privateTargets }: Parts, means: Means): Promise<AttemptResult> {
  const { pools, resolve, signal } = means;
  const giveUpAtMs = performance.now() + BLIPS_MS;
  const reach = async (number: number): Promise<AttemptResult> => {
    if (!url) throw new AttemptFailed('url_not_allowed');
    const checked = checkedAddresses(url, { resolve, privateTargets });
    const addresses = await Promise.race([checked, lateAt(signal)]);
    const address = addresses[(number - 1) % addresses.length] ?? '';
    const ended = await sendAttempt(pools.poolOf(url, address), post, signal);
    if (ended.failure === 'connect_failed') throw new AttemptFailed(ended.failure);
    return ended;
  };
  return pRetry(reach, {
    retries: BLIP_RETRIES,
    minTimeout: BLIP_DELAY_MS,
    shouldRetry: ({ error }) => isBlip(error) && performance.now() < giveUpAtMs,
  });
}

function isBlip(error: Error): boolean {
  return error instanceof AttemptFailed && BLIPS.has(error.code);
}

const BLIPS: ReadonlySet<AttemptError> = new Set(['name_not_resolved', 'connect_failed']);

function lateAt(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const late = () => reject(new AttemptFailed('timeout'));
    if (signal.aborted) late();
    else signal.addEventListener('abort', late, { once: true });
  });
}

const GONE = 410;

function attemptOf(
  { response, failure }: AttemptResult,
  nowMs: number,
): Omit<Attempt, 'durationMs' | 'requestHead'> {
  if (!response) return { outcome: 'failed', errorCode: failure ?? 'connection_lost' };
  const { status, head, body, retryAfter } = response;
  const shown = { status, responseHead: head, responseBody: body };
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && failure === undefined) return { outcome: 'succeeded', ...shown };
  const retryAfterMs = retryAfterMsOf(retryAfter, nowMs);
  return {
    outcome: status === GONE ? 'gone' : 'failed',
    ...shown,
    errorCode: failure ?? 'status_not_2xx',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
