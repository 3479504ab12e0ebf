import type { Listed } from '../../api/wire.ts';
import { counted, words } from '../../design/figures.ts';
import { Badge } from '../../design/pieces.tsx';
import type { Column } from '../../design/table.tsx';
import { Ago, Time } from '../../design/times.tsx';
import { StatusBadge } from '../status-badge.tsx';
import { outcomeText } from './attempt-outcome.ts';
import type { EndpointState } from './failing.ts';
import { nextAttempt } from './next-attempt.ts';
import { askToReplay } from './replay-delivery.ts';
import { askToSwitch } from './switch-endpoint.tsx';

export type Delivery = Listed<'webhookDeliveries.list'>;

interface DeliveryColumns {
  /** Shows the attempts of a delivery. */
  onOpen: (delivery: Delivery) => void;
  /** Undefined for one that was deleted, or that is not read yet. */
  endpointOf: (endpointId: string) => EndpointState | undefined;
}

export function deliveryColumns({ onOpen, endpointOf }: DeliveryColumns): Array<Column<Delivery>> {
  return [
    { title: 'Event', cell: ({ eventType }) => <code>{eventType}</code> },
    { title: 'Status', isFit: true, cell: (delivery) => <DeliveryStatus delivery={delivery} /> },
    {
      title: 'Last outcome',
      cell: (delivery) => <Outcome delivery={delivery} endpoint={endpointOf(delivery.endpointId)} />,
    },
    { title: 'Created', isFit: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      title: 'Actions',
      isUntitled: true,
      isEnd: true,
      isFit: true,
      cell: (delivery) => (
        <div class="row">
          <button type="button" class="button" onClick={() => onOpen(delivery)}>
            Attempts
          </button>
          <ReplayButton delivery={delivery} endpoint={endpointOf(delivery.endpointId)} />
        </div>
      ),
    },
  ];
}

type Shown = Pick<Delivery, 'status' | 'attemptsMade' | 'replayedAs'>;

export function DeliveryStatus({ delivery }: { delivery: Shown }) {
  const { status, attemptsMade, replayedAs } = delivery;
  if (replayedAs !== undefined) return <Badge>{`${words(status)}, then replayed`}</Badge>;
  if (status === 'pending' && attemptsMade > 0) return <Badge tone="warn">Waiting to retry</Badge>;
  return <StatusBadge status={status} />;
}

interface DeliveryProps {
  delivery: Delivery;
  endpoint: EndpointState | undefined;
}

function Outcome({ delivery, endpoint }: DeliveryProps) {
  const { attemptsMade, lastStatus, lastError } = delivery;
  const next = nextAttempt(delivery, endpoint?.failing, Date.now());
  return (
    <>
      {attemptsMade === 0 ? (
        <span class="muted">No attempt yet</span>
      ) : (
        <>
          {outcomeText({ status: lastStatus, error: lastError })}{' '}
          <span class="muted">after {counted(attemptsMade, 'attempt')}</span>
        </>
      )}
      {next ? (
        <div class="small muted">
          {next.text} {next.at === undefined ? null : <Ago at={next.at} />}
        </div>
      ) : null}
    </>
  );
}

/** Nothing is sent to an endpoint that is disabled: to enable it comes first. */
function ReplayButton({ delivery, endpoint }: DeliveryProps) {
  if (endpoint === undefined) return null;
  const ask = () => (endpoint.status === 'disabled' ? askToSwitch(endpoint) : askToReplay(delivery));
  return (
    <button type="button" class="button" onClick={ask}>
      {endpoint.status === 'disabled' ? 'Enable to replay' : 'Replay'}
    </button>
  );
}
