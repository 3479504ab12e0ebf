import { curlOf } from '../api/curl.ts';
import { Code, CopyButton } from '../design/pieces.tsx';
import { FIRST } from './first-objects.ts';

/** In place of an empty list: the request that makes the first one. */
export function FirstOne({ kind, text }: { kind: keyof typeof FIRST; text?: string }) {
  const { operationId, tag, request } = FIRST[kind];
  const command = curlOf(request, location.origin);
  return (
    <div class="stack">
      <p>
        {text ?? `There is no ${kind} in this mode yet.`} With METERGATE_KEY set to the key that you signed in
        with, this makes the first one:
      </p>
      <Code text={command} />
      <div class="row">
        <CopyButton text={command} />
        <a href={`/docs#/${tag}/${operationId}`}>Its fields, in the API reference</a>
      </div>
    </div>
  );
}
