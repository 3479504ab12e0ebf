import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';
import { changeQuery, usePlace } from '../../app/place.ts';
import { counted, words } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Pager } from '../../design/pager.tsx';
import { Card, Segments } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Ago, Time } from '../../design/times.tsx';
import { StatusBadge } from '../status-badge.tsx';
import { AttemptsDialog } from './attempts-dialog.tsx';

type Delivery = Listed<'webhookDeliveries.list'>;

const STATUSES = [
  ['', 'All'],
  ['pending', 'Pending'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['held', 'Held'],
] as const;
const EVERY_MS = 10_000;

export function DeliveriesCard({ endpointId }: { endpointId: string }) {
  const { status = '', page = '1' } = usePlace().query;
  const [opened, setOpened] = useState<string>();
  const read = useOperation<'webhookDeliveries.list'>(
    apiPath(['webhooks', 'endpoints', endpointId, 'deliveries'], { status, page }),
    { everyMs: EVERY_MS },
  );
  const choose = (chosen: string) => changeQuery({ status: chosen, page: undefined });
  return (
    <Card
      title="Deliveries"
      actions={<Segments label="Status" options={STATUSES} chosen={status} onChoose={choose} />}
    >
      <Loaded read={read} lines={8}>
        {(data) => (
          <>
            <Table
              label="Deliveries"
              columns={columns(setOpened)}
              rows={data.data}
              empty="There is no such delivery in the last 30 days."
            />
            <Pager page={data} onTurn={(turned) => changeQuery({ page: String(turned) })} />
          </>
        )}
      </Loaded>
      {opened === undefined ? null : (
        <AttemptsDialog deliveryId={opened} onClose={() => setOpened(undefined)} />
      )}
    </Card>
  );
}

function columns(onOpen: (id: string) => void): Array<Column<Delivery>> {
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
          next <Ago at={nextAttemptAt} />
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
