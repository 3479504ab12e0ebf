import type { ComponentChildren } from 'preact';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { linkTo } from '../../app/place.ts';
import { Dialog } from '../../design/dialog.tsx';
import { count } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Badge, Code, Empty, Facts } from '../../design/pieces.tsx';
import { Ago, Time } from '../../design/times.tsx';
import { outcomeText } from './attempt-outcome.ts';
import { DeliveryStatus } from './delivery-columns.tsx';
import type { Failing } from './failing.ts';
import { nextAttempt } from './next-attempt.ts';

type Attempted = Responded<'webhookDeliveries.retrieve'>;
type Attempt = Attempted['attempts'][number];

interface AttemptsDialogProps {
  deliveryId: string;
  /** Of its endpoint, where that fails. */
  failing: Failing | undefined;
  onClose: () => void;
}

const EVERY_MS = 5_000;

/** What was sent and what came back, attempt by attempt. */
export function AttemptsDialog({ deliveryId, failing, onClose }: AttemptsDialogProps) {
  const path = apiPath(['webhooks', 'deliveries', deliveryId]);
  const read = useOperation<'webhookDeliveries.retrieve'>(path, { everyMs: EVERY_MS });
  return (
    <Dialog title="Attempts of a delivery" isWide onClose={onClose}>
      <Loaded read={read}>
        {(delivery) => (
          <>
            <Facts facts={factsOf(delivery, failing)} />
            {delivery.attempts.length === 0 ? <Empty>No attempt has been made yet.</Empty> : null}
            {delivery.attempts.map((attempt) => (
              <AttemptView key={attempt.number} attempt={attempt} />
            ))}
            <h3>The body that each attempt sends</h3>
            <Code text={delivery.requestBody} />
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

function factsOf(delivery: Attempted, failing: Failing | undefined): Array<[string, ComponentChildren]> {
  const customerId = customerOf(delivery);
  const next = nextAttempt(delivery, failing, Date.now());
  const facts: Array<[string, ComponentChildren]> = [
    ['Event', <code>{delivery.eventType}</code>],
    ['Event id', <code>{delivery.eventId}</code>],
    ['Status', <DeliveryStatus delivery={delivery} />],
  ];
  if (customerId) facts.push(['Customer', <a href={linkTo(['customers', customerId])}>{customerId}</a>]);
  if (next) facts.push(['Waits', <WaitsFor text={next.text} at={next.at} />]);
  return facts;
}

function WaitsFor({ text, at }: { text: string; at: string | undefined }) {
  return (
    <>
      {text} {at === undefined ? null : <Ago at={at} />}
    </>
  );
}

/** The customer that an event is about, where it is about one. That of a test event does not exist. */
function customerOf({ eventId, requestBody }: Attempted): string | undefined {
  if (eventId.startsWith('evt_testevent')) return undefined;
  const { data } = JSON.parse(requestBody) as { data?: { customerId?: unknown } };
  return typeof data?.customerId === 'string' ? data.customerId : undefined;
}

function AttemptView({ attempt }: { attempt: Attempt }) {
  const { number, startedAt, durationMs, status, errorCode, requestHead, responseHead, responseBody } =
    attempt;
  const isGood = status !== undefined && status >= 200 && status < 300 && errorCode === undefined;
  return (
    <details>
      <summary>
        Attempt {number}: {outcomeText({ status, error: errorCode })}
      </summary>
      <div class="stack">
        <div class="row">
          <Badge tone={isGood ? 'good' : 'bad'}>{isGood ? 'Accepted' : 'Not accepted'}</Badge>
          <span class="muted small">
            <Time at={startedAt} />, {count(durationMs)} ms
            {errorCode === undefined ? null : (
              <>
                , <code>{errorCode}</code>
              </>
            )}
          </span>
        </div>
        <h3>Request</h3>
        <Code text={requestHead === '' ? 'Nothing was sent.' : requestHead} />
        {responseHead === undefined ? null : <h3>Response</h3>}
        {responseHead === undefined ? null : <Code text={`${responseHead}\n${responseBody ?? ''}`} />}
      </div>
    </details>
  );
}
