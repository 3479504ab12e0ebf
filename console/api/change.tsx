/** Changes: each is shown with its request, and is made only when the reader confirms it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { createStore, useStore } from '../app/store.ts';
import { Dialog } from '../design/dialog.tsx';
import { Failure } from '../design/loaded.tsx';
import { Code } from '../design/pieces.tsx';
import { say } from '../design/toasts.tsx';
import { curlOf } from './curl.ts';
import { readAgain } from './reads.ts';
import { type ApiError, type ApiRequest, send } from './send.ts';

export interface Change {
  /** A question: `Archive the customer Ada?` */
  title: string;
  /** What will be different. */
  effect: ComponentChildren;
  /** On the button. */
  verb: string;
  /** On the button that changes nothing; 'Cancel' unless that is what the change does. */
  keep?: string;
  /** It takes something away. */
  isDanger?: boolean;
  request: ApiRequest;
  /** Said when it is done, also of the response. */
  done: string | ((body: unknown) => string);
  onDone?: (body: unknown) => void;
}

const asked = createStore<Change | undefined>(undefined);

/** Asks the reader, and then makes the change. */
export function askToChange(change: Change): void {
  asked.set(change);
}

/** Once in the frame of the console. */
export function ChangeDialog() {
  const change = useStore(asked);
  return change ? <Question key={change.title} change={change} /> : null;
}

function Question({ change }: { change: Change }) {
  const { title, effect, verb, keep = 'Cancel', isDanger, done, onDone } = change;
  // The same for each attempt: a repetition of what was done, but not reported, does nothing.
  const [request] = useState(() => withKey(change.request));
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<ApiError>();
  const close = () => asked.set(undefined);
  const make = async () => {
    setSending(true);
    try {
      const { body } = await send(request);
      close();
      say(typeof done === 'string' ? done : done(body));
      readAgain();
      onDone?.(body);
    } catch (thrown) {
      setError(thrown as ApiError);
      setSending(false);
    }
  };
  return (
    <Dialog title={title} onClose={close}>
      <div class="stack">{effect}</div>
      {error ? <Failure error={error} /> : null}
      <details>
        <summary>The request that this sends</summary>
        <Code text={curlOf(request, location.origin)} />
      </details>
      <div class="row row-end">
        {/* biome-ignore lint/a11y/noAutofocus: Enter must not make the change by accident */}
        <button type="button" class="button" autoFocus onClick={close}>
          {keep}
        </button>
        <button
          type="button"
          class={`button ${isDanger ? 'button-danger' : 'button-primary'}`}
          disabled={isSending}
          onClick={make}
        >
          {isSending ? 'Sending…' : verb}
        </button>
      </div>
    </Dialog>
  );
}

function withKey(request: ApiRequest): ApiRequest {
  if (request.method !== 'POST') return request;
  const random = crypto.getRandomValues(new Uint8Array(12));
  const key = `console-${[...random].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return { ...request, headers: { 'Idempotency-Key': key, ...request.headers } };
}
