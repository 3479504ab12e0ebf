/** What a screen reads: loaded, shown again from memory while it loads again, and named for the reader. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { currentKey } from '../app/session.ts';
import { createStore } from '../app/store.ts';
import { type ApiError, type ApiRequest, type ApiResponse, send } from './send.ts';

export interface Read<T> {
  /** The last that was read, also while a newer one loads. */
  data: T | undefined;
  etag: string | undefined;
  /** When the response with the data came. */
  receivedAtMs: number | undefined;
  /** Of the last attempt. */
  error: ApiError | undefined;
  isLoading: boolean;
  reload(): void;
}

export interface ReadOptions {
  /** Reads again after this time, while the page is visible. */
  everyMs?: number;
}

const KEPT_MAX = 60;
const kept = new Map<string, ApiResponse>();
/** The requests of what is shown, for the panel that names them. */
export const shownRequests = createStore<readonly ApiRequest[]>([]);
/** Increased by a change: everything that is shown is read again. */
const changes = createStore(0);

/** Forgets all that was read: the key is another one now. */
export function forgetReads(): void {
  kept.clear();
}

/** After a change: what is shown is read again. */
export function readAgain(): void {
  kept.clear();
  changes.set(changes.get() + 1);
}

interface Outcome extends Partial<ApiResponse> {
  name?: string;
  error?: ApiError | undefined;
}

/** Undefined as a request reads nothing yet. */
export function useRead<T>(request: ApiRequest | undefined, { everyMs }: ReadOptions = {}): Read<T> {
  const name = request && JSON.stringify([currentKey()?.slice(-8), request]);
  const [outcome, setOutcome] = useState<Outcome>({});
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((one) => one + 1), []);

  useEffect(() => changes.subscribe(reload), [reload]);
  useEffect(() => (everyMs === undefined ? undefined : repeat(reload, everyMs)), [reload, everyMs]);
  // Below the name stands for the request.
  useEffect(() => (request ? register(request) : undefined), [name]);
  useEffect(() => {
    if (!request || name === undefined) return undefined;
    const abort = new AbortController();
    send(request, { signal: abort.signal }).then(
      (response) => {
        keep(name, response);
        setOutcome({ name, ...response });
      },
      (error) => {
        if (!abort.signal.aborted)
          setOutcome((last) => ({ ...(last.name === name ? last : { name }), error }));
      },
    );
    return () => abort.abort();
  }, [name, turn]);

  const isCurrent = outcome.name === name;
  const known = isCurrent && 'body' in outcome ? outcome : kept.get(name ?? '');
  const error = isCurrent ? outcome.error : undefined;
  const isLoading = name !== undefined && !isCurrent;
  const { body, etag, receivedAtMs } = known ?? {};
  return { data: body as T | undefined, etag, receivedAtMs, error, isLoading, reload };
}

function keep(name: string, response: ApiResponse): void {
  kept.delete(name);
  kept.set(name, response);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}

/** Names a request to the reader until the returned function is called. */
export function register(request: ApiRequest): () => void {
  shownRequests.set([...shownRequests.get(), request]);
  return () => shownRequests.set(shownRequests.get().filter((one) => one !== request));
}

function repeat(reload: () => void, everyMs: number): () => void {
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') reload();
  }, everyMs);
  return () => clearInterval(timer);
}
