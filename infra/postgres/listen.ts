import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, escapeIdentifier } from 'pg';
import type { Logger } from 'pino';
import { NOWHERE_URL } from './pool.ts';

export interface Listener {
  /** True while a session receives every notification. */
  connected(): boolean;
  close(): Promise<void>;
}

export interface ListenerDeps {
  /** Called before every connection: an embedded server comes back on another port. */
  url: () => string | undefined;
  log: Logger;
  /** The interval of the heartbeat query, and its time limit. Default 3,000. */
  heartbeatMs?: number;
}

export interface ListenerHandlers {
  channels: Record<string, (payload: string) => void>;
  /** A new session listens. What was notified before it is lost: caches empty themselves here. */
  onSession?: () => void;
  onLost?: () => void;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A server that hangs keeps its sockets open: only a query without a response shows it. */
const HEARTBEAT_MS = 3_000;
const BACKOFF_MS = { first: 50, most: 2_000 };

interface Session {
  client: Client;
  socket: Socket;
  lost: AbortController;
}

/**
 * One connection of its own that listens, permanently: when it fails, another one takes over.
 */
export function createListener(deps: ListenerDeps, handlers: ListenerHandlers): Listener {
  const { log, heartbeatMs = HEARTBEAT_MS } = deps;
  const closing = new AbortController();
  let listening = false;

  async function keepListening(): Promise<void> {
    let backoffMs = BACKOFF_MS.first;
    while (!closing.signal.aborted) {
      const session = await openSession(deps.url, handlers.channels, {
        respondWithinMs: heartbeatMs,
        closing: closing.signal,
      }).catch((error: unknown) => {
        log.debug({ err: error }, 'cannot listen on Postgres');
        return undefined;
      });
      if (session) {
        backoffMs = BACKOFF_MS.first;
        await hold(session);
      }
      await pause(backoffMs, closing.signal);
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MS.most);
    }
  }

  async function hold(session: Session): Promise<void> {
    listening = true;
    handlers.onSession?.();
    await beatUntilLost(session, heartbeatMs, closing.signal);
    listening = false;
    session.socket.destroy();
    if (closing.signal.aborted) return;
    log.warn('the listening Postgres session was lost');
    handlers.onLost?.();
  }

  const kept = keepListening();
  return {
    connected: () => listening,
    close: () => {
      closing.abort();
      return kept;
    },
  };
}

async function openSession(
  url: () => string | undefined,
  channels: ListenerHandlers['channels'],
  { respondWithinMs, closing }: { respondWithinMs: number; closing: AbortSignal },
): Promise<Session> {
  const socket = new Socket();
  // A question to a server that hangs ends with its socket.
  const cutOff = () => void socket.destroy();
  closing.addEventListener('abort', cutOff);
  socket.once('close', () => closing.removeEventListener('abort', cutOff));
  const lost = new AbortController();
  const client = new Client({
    connectionString: url() || NOWHERE_URL,
    application_name: 'metergate-listen',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: respondWithinMs,
    keepAlive: true,
    stream: () => socket,
  });
  client.on('error', () => lost.abort());
  client.on('end', () => lost.abort());
  client.on('notification', ({ channel, payload }) => channels[channel]?.(payload ?? ''));
  try {
    await client.connect();
    for (const channel of Object.keys(channels)) await client.query(`LISTEN ${escapeIdentifier(channel)}`);
    return { client, socket, lost };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function beatUntilLost(
  { client, lost }: Session,
  everyMs: number,
  closing: AbortSignal,
): Promise<void> {
  const over = AbortSignal.any([lost.signal, closing]);
  while (!over.aborted) {
    await pause(everyMs, over);
    if (over.aborted) return;
    await client.query('SELECT 1').catch(() => lost.abort());
  }
}

/** Waits, or less when the signal comes. */
async function pause(forMs: number, signal: AbortSignal): Promise<void> {
  await delay(forMs, undefined, { signal }).catch(() => undefined);
}
