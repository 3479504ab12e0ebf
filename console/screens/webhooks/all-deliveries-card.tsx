import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import { linkTo } from '../../app/place.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Segments } from '../../design/pieces.tsx';
import { Table } from '../../design/table.tsx';
import { AttemptsDialog } from './attempts-dialog.tsx';
import { type Delivery, deliveryColumns } from './delivery-columns.tsx';

const STATUSES = [
  ['failed', 'Failed'],
  ['pending', 'Pending'],
  ['held', 'Held'],
  ['succeeded', 'Succeeded'],
  ['', 'All'],
] as const;
const EVERY_MS = 15_000;

interface AllDeliveriesCardProps {
  /** Of the endpoints, by their ids. */
  urls: ReadonlyMap<string, string>;
}

/** The newest deliveries of all endpoints. */
export function AllDeliveriesCard({ urls }: AllDeliveriesCardProps) {
  const [status, setStatus] = useState<(typeof STATUSES)[number][0]>('failed');
  const [opened, setOpened] = useState<string>();
  const [cursor, setCursor] = useState<string>();
  const path = apiPath(['webhooks', 'deliveries'], { status, cursor });
  const read = useOperation<'webhookDeliveries.listAll'>(path, { everyMs: EVERY_MS });
  const choose = (chosen: typeof status) => {
    setStatus(chosen);
    setCursor(undefined);
  };
  const endpoint = {
    title: 'Endpoint',
    cell: ({ endpointId }: Delivery) => (
      <a href={linkTo(['webhooks', endpointId])}>{urls.get(endpointId) ?? endpointId}</a>
    ),
  };
  return (
    <Card
      title="Deliveries of all endpoints"
      actions={<Segments label="Status" options={STATUSES} chosen={status} onChoose={choose} />}
    >
      <Loaded read={read} lines={6}>
        {({ data, nextCursor }) => (
          <>
            <Table
              label="Deliveries"
              columns={[endpoint, ...deliveryColumns(setOpened)]}
              rows={data}
              empty={status === 'failed' ? 'No delivery has failed.' : 'There is no such delivery.'}
            />
            <div class="row">
              <button type="button" class="button" disabled={!cursor} onClick={() => setCursor(undefined)}>
                Newest
              </button>
              <button
                type="button"
                class="button"
                disabled={nextCursor === undefined}
                onClick={() => setCursor(nextCursor)}
              >
                Older
              </button>
            </div>
          </>
        )}
      </Loaded>
      {opened === undefined ? null : (
        <AttemptsDialog deliveryId={opened} onClose={() => setOpened(undefined)} />
      )}
    </Card>
  );
}
