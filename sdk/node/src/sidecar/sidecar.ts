import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '../client/client.ts';
import { createEntitlements } from '../entitlements/check.ts';
import { type Flushed, QueueMeter } from '../meter/meter.ts';
import type { MeterProblem } from '../meter/report.ts';
import type { EventRejection, UsageEvent } from '../meter/usage-event.ts';
import { openSpool } from '../spool/spool.ts';
import { createLocalServer } from './local-server.ts';
import { operationsOf } from './operations.ts';
import type { SidecarSettings } from './settings.ts';

export interface Sidecar {
  /** On 127.0.0.1. */
  port: number;
  /** Ends requests, sends what waits, and resolves with what became of it. */
  close(): Promise<Flushed>;
}

/** Of requests under way at the end. */
const REQUESTS_END_MS = 1_000;
const REJECTED_EVERY_MS = 1_000;

/** The meter and the local decisions of this package behind HTTP. Rejects when the port cannot be had. */
export async function startSidecar(
  { url, apiKey, port, spool, fallback, closeTimeoutMs }: SidecarSettings,
  log: (message: string) => void,
): Promise<Sidecar> {
  const onError = ({ code, message, times }: MeterProblem): void =>
    log(`${code}: ${message}${times > 1 ? ` (${times} times)` : ''}`);
  const files = spool ? { spool: openSpool(spool) } : {};
  const meter = new QueueMeter({ url, apiKey, ...files, onError, onRejected: reportRejected(log) });
  const client = createClient({ url, apiKey });
  const entitlements = createEntitlements({ client, isLocal: true, meter, fallback, onError });
  const server = createLocalServer(operationsOf({ meter, entitlements }), (error) =>
    log(`internal: ${error}`),
  );
  const end = async (timeoutMs: number): Promise<Flushed> => {
    await endRequests(server);
    entitlements.close();
    return await meter.close({ timeoutMs });
  };
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    await end(0);
    throw error;
  }
  return { port: (server.address() as AddressInfo).port, close: () => end(closeTimeoutMs) };
}

/** At most once a second: a program may send the same fault with each of its events. */
function reportRejected(log: (message: string) => void): (event: UsageEvent, error: EventRejection) => void {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let more = 0;
  return (event, { code, message }) => {
    more += 1;
    const now = performance.now();
    if (now - loggedAtMs < REJECTED_EVERY_MS) return;
    loggedAtMs = now;
    log(
      `rejected, ${code}: event ${event?.idempotencyKey}: ${message}${more > 1 ? ` (${more} events)` : ''}`,
    );
    more = 0;
  };
}

async function endRequests(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), REQUESTS_END_MS);
  await closed;
  clearTimeout(timer);
}
