import { apiPath, useOperation } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { Dialog } from '../../design/dialog.tsx';
import { count, words } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Badge, Code, Empty, Facts } from '../../design/pieces.tsx';
import { Time } from '../../design/times.tsx';
import { StatusBadge } from '../status-badge.tsx';

type Attempt = Responded<'webhookDeliveries.retrieve'>['attempts'][number];

/** What was sent and what came back, attempt by attempt. */
export function AttemptsDialog({ deliveryId, onClose }: { deliveryId: string; onClose: () => void }) {
  const read = useOperation<'webhookDeliveries.retrieve'>(apiPath(['webhooks', 'deliveries', deliveryId]));
  return (
    <Dialog title="Attempts of a delivery" isWide onClose={onClose}>
      <Loaded read={read}>
        {({ eventType, eventId, status, attempts }) => (
          <>
            <Facts
              facts={[
                ['Event', <code>{eventType}</code>],
                ['Event id', <code>{eventId}</code>],
                ['Status', <StatusBadge status={status} />],
              ]}
            />
            {attempts.length === 0 ? <Empty>No attempt has been made yet.</Empty> : null}
            {attempts.map((attempt) => (
              <AttemptView key={attempt.number} attempt={attempt} />
            ))}
          </>
        )}
      </Loaded>
      <div class="row row-end">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function AttemptView({ attempt }: { attempt: Attempt }) {
  const { number, startedAt, durationMs, status, errorCode, requestHead, responseHead, responseBody } =
    attempt;
  const isGood = status !== undefined && status >= 200 && status < 300;
  return (
    <details>
      <summary>
        Attempt {number}: {status === undefined ? words(errorCode ?? 'no response') : `HTTP ${status}`}
      </summary>
      <div class="stack">
        <div class="row">
          <Badge tone={isGood ? 'good' : 'bad'}>{isGood ? 'Accepted' : 'Not accepted'}</Badge>
          <span class="muted small">
            <Time at={startedAt} />, {count(durationMs)} ms
          </span>
        </div>
        <h3>Request</h3>
        <Code text={requestHead} />
        {responseHead === undefined ? null : <h3>Response</h3>}
        {responseHead === undefined ? null : <Code text={`${responseHead}\n${responseBody ?? ''}`} />}
      </div>
    </details>
  );
}
