/** Usage as it is counted: server-sent events, with the key in a header, which no EventSource can send. */
import { useEffect, useState } from 'preact/hooks';
import { currentKey } from '../app/session.ts';
import { register } from './reads.ts';
import { ApiError } from './send.ts';
import type { Listed } from './wire.ts';

export type LiveEvent = Listed<'usage.events'>;

export interface Live {
  state: 'connecting' | 'open' | 'waiting' | 'stopped';
  /** Newest first. */
  events: readonly LiveEvent[];
  /** Counted, and not shown: more came in a second than a stream has. */
  leftOut: number;
  error: ApiError | undefined;
}

const SHOWN_MAX = 200;
/** Before it connects again after the stream ended. */
const AGAIN_MS = 2_000;
const NONE: Live = { state: 'connecting', events: [], leftOut: 0, error: undefined };

/** Follows the stream at that path; undefined stops, and keeps what was shown. */
export function useLive(path: string | undefined): Live {
  const [live, setLive] = useState<Live>(NONE);
  useEffect(() => {
    if (path === undefined) {
      setLive((last) => ({ ...last, state: 'stopped' }));
      return undefined;
    }
    setLive(NONE);
    const abort = new AbortController();
    const unregister = register({ method: 'GET', path });
    void follow(path, abort.signal, (change) => setLive((last) => ({ ...last, ...change(last) })));
    return () => {
      unregister();
      abort.abort();
    };
  }, [path]);
  return live;
}

type Report = (change: (last: Live) => Partial<Live>) => void;

/** Until it is aborted, or rejected for good. */
async function follow(path: string, signal: AbortSignal, report: Report): Promise<void> {
  while (!signal.aborted) {
    try {
      await readStream(path, signal, report);
      report(() => ({ state: 'waiting' }));
    } catch (error) {
      if (signal.aborted) return;
      const rejection = error instanceof ApiError ? error : undefined;
      report(() => ({ state: 'waiting', error: rejection }));
      if (rejection && rejection.status >= 400 && rejection.status < 500 && rejection.status !== 429) return;
    }
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

async function readStream(path: string, signal: AbortSignal, report: Report): Promise<void> {
  const headers = { Authorization: `Bearer ${currentKey()}`, Prefer: 'numbers=text' };
  const response = await fetch(path, { headers, signal, credentials: 'omit', cache: 'no-store' });
  if (!response.ok || !response.body) throw await rejectionOf(response);
  report(() => ({ state: 'open', error: undefined }));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const messages = (rest + part.value).split('\n\n');
    rest = messages.pop() ?? '';
    for (const message of messages) take(message, report);
  }
}

function take(message: string, report: Report): void {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(message)?.[1];
  const data = field('data');
  if (data === undefined) return;
  if (field('event') === 'sampled') {
    const { leftOut } = JSON.parse(data) as { leftOut: number };
    report((last) => ({ leftOut: last.leftOut + leftOut }));
    return;
  }
  const event = JSON.parse(data) as LiveEvent;
  report((last) => ({ events: [event, ...last.events].slice(0, SHOWN_MAX) }));
}

async function rejectionOf(response: Response): Promise<ApiError> {
  const { error } = (await response.json().catch(() => ({}))) as {
    error?: { code: string; message: string };
  };
  return new ApiError(response.status, error ?? { code: 'unknown', message: 'The stream did not open.' });
}
