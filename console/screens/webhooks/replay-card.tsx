import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { apiPath } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { Field, Form } from '../../design/fields.tsx';
import { counted } from '../../design/figures.ts';
import { Card } from '../../design/pieces.tsx';
import { utc } from '../../design/times.tsx';
import { ReplayableCount } from './replayable-count.tsx';

const DAY_MS = 86_400_000;

/** Every event of a period again, after a receiver was down. */
export function ReplayCard({ endpointId, isEnabled }: { endpointId: string; isEnabled: boolean }) {
  const [from, setFrom] = useState(() => fieldText(Date.now() - DAY_MS));
  const [to, setTo] = useState(() => fieldText(Date.now()));
  const ask = () => {
    const [first, last] = [new Date(from), new Date(to)];
    const body = { from: first.toISOString(), to: last.toISOString(), onlyFailed: true };
    askToChange({
      title: 'Replay failed deliveries?',
      effect: (
        <>
          <p>
            Every event between {utc(first)} and {utc(last)} whose deliveries to this endpoint failed or were
            held is sent again.
          </p>
          <ReplayableCount endpointId={endpointId} from={body.from} to={body.to} />
        </>
      ),
      verb: 'Replay',
      request: { method: 'POST', path: apiPath(['webhooks', 'endpoints', endpointId, 'replay']), body },
      done: replayedText,
    });
  };
  return (
    <Card title="Replay a period">
      <Form onSubmit={ask}>
        <Field label="From" type="datetime-local" value={from} onInput={setFrom} isRequired />
        <Field label="To" type="datetime-local" value={to} onInput={setTo} isRequired />
        <div>
          <button type="submit" class="button" disabled={!isEnabled}>
            Replay failed and held
          </button>
        </div>
        {isEnabled ? null : <p class="small muted">Enable the endpoint first: nothing is sent to it now.</p>}
      </Form>
    </Card>
  );
}

function replayedText(body: unknown): string {
  const { replayed, hurried, nextFrom } = body as Responded<'webhookEndpoints.replay'>;
  const more = nextFrom === undefined ? '' : ' There are more: replay the rest of the period next.';
  if (replayed + hurried === 0) return 'Nothing failed or was held in this period: nothing was replayed.';
  const again = `${counted(replayed, 'event')} sent again`;
  return `${again}, ${counted(hurried, 'waiting delivery', 'waiting deliveries')} made due.${more}`;
}

/** As such a field has it: in the zone of the browser, without seconds. */
function fieldText(timeMs: number): string {
  const local = new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
