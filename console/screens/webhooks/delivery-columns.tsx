import { askToChange } from '../../api/change.tsx';
import { apiPath } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';
import { counted, words } from '../../design/figures.ts';
import type { Column } from '../../design/table.tsx';
import { Ago, isPast, Time } from '../../design/times.tsx';
import { StatusBadge } from '../status-badge.tsx';

export type Delivery = Listed<'webhookDeliveries.list'>;

/** `onOpen` shows the attempts of a delivery. */
export function deliveryColumns(onOpen: (id: string) => void): Array<Column<Delivery>> {
  return [
    { title: 'Event', cell: ({ eventType }) => <code>{eventType}</code> },
    { title: 'Status', isFit: true, cell: ({ status }) => <StatusBadge status={status} /> },
    { title: 'Last outcome', cell: (delivery) => <Outcome delivery={delivery} /> },
    { title: 'Created', isFit: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      title: 'Actions',
      isUntitled: true,
      isEnd: true,
      isFit: true,
      cell: (delivery) => (
        <div class="row">
          <button type="button" class="button" onClick={() => onOpen(delivery.id)}>
            Attempts
          </button>
          <button type="button" class="button" onClick={() => askToReplay(delivery)}>
            Replay
          </button>
        </div>
      ),
    },
  ];
}

function Outcome({ delivery }: { delivery: Delivery }) {
  const { attemptsMade, lastStatus, lastError, nextAttemptAt } = delivery;
  if (attemptsMade === 0) return <span class="muted">No attempt yet</span>;
  const outcome = lastStatus === undefined ? words(lastError ?? 'no response') : `HTTP ${lastStatus}`;
  return (
    <>
      {outcome} <span class="muted">after {counted(attemptsMade, 'attempt')}</span>
      {nextAttemptAt ? (
        <div class="small muted">
          {isPast(nextAttemptAt) ? (
            'the next one is due'
          ) : (
            <>
              next <Ago at={nextAttemptAt} />
            </>
          )}
        </div>
      ) : null}
    </>
  );
}

function askToReplay({ id, eventType, status }: Delivery): void {
  askToChange({
    title: `Replay ${eventType}?`,
    effect:
      status === 'pending'
        ? 'It is still pending: its next attempt is made at once.'
        : 'A new delivery of the same event is made, with the same event id, bytes and ten attempts.',
    verb: 'Replay',
    request: { method: 'POST', path: apiPath(['webhooks', 'deliveries', id, 'replay']) },
    done: 'The delivery is on its way again.',
  });
}
