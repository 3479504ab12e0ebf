import type { ComponentChildren } from 'preact';
import type { Read } from '../api/reads.ts';
import type { ApiError } from '../api/send.ts';
import { Notice } from './pieces.tsx';

interface LoadedProps<T> {
  read: Read<T>;
  /** Rows of the placeholder. */
  lines?: number;
  children: (data: T) => ComponentChildren;
}

/** What was read; until then a placeholder, and an error with a way to try again. */
export function Loaded<T>({ read, lines = 3, children }: LoadedProps<T>) {
  const { data, error, reload } = read;
  if (data !== undefined) {
    return (
      <>
        {error ? <Failure error={error} onRetry={reload} isStale /> : null}
        {children(data)}
      </>
    );
  }
  return error ? <Failure error={error} onRetry={reload} /> : <Skeleton lines={lines} />;
}

export function Skeleton({ lines }: { lines: number }) {
  return (
    <div class="stack" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        <div class="skeleton" style={{ width: `${92 - ((at * 17) % 40)}%` }} />
      ))}
    </div>
  );
}

interface FailureProps {
  error: ApiError;
  onRetry?: () => void;
  /** What was read before is still shown. */
  isStale?: boolean;
}

export function Failure({ error, onRetry, isStale = false }: FailureProps) {
  return (
    <Notice tone="bad">
      <div class="row">
        <span>
          {isStale && error.status !== 200 ? 'This could not be refreshed. ' : ''}
          {explained(error)}
          {error.requestId ? <span class="small"> Request {error.requestId}.</span> : null}
        </span>
        {onRetry ? (
          <button type="button" class="button" onClick={onRetry}>
            Try again
          </button>
        ) : null}
      </div>
    </Notice>
  );
}

function explained({ code, message }: ApiError): string {
  if (code === 'insufficient_scope') return `The key may not see this. ${message}`;
  return message;
}
