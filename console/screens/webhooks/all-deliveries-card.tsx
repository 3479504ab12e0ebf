import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import { linkTo } from '../../app/place.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Segments } from '../../design/pieces.tsx';
import { Table } from '../../design/table.tsx';
import { AttemptsDialog } from './attempts-dialog.tsx';
import { type Delivery, deliveryColumns } from './delivery-columns.tsx';
import { DELIVERY_FILTERS, type DeliveryFilter, noDeliveries } from './delivery-filters.ts';
import type { EndpointState } from './failing.ts';

const EVERY_MS = 15_000;

interface AllDeliveriesCardProps {
  /** By their ids. */
  endpoints: ReadonlyMap<string, EndpointState>;
}

/** The newest deliveries of all endpoints. */
export function AllDeliveriesCard({ endpoints }: AllDeliveriesCardProps) {
  const [status, setStatus] = useState<DeliveryFilter>('undelivered');
  const [opened, setOpened] = useState<Delivery>();
  const [cursor, setCursor] = useState<string>();
  const path = apiPath(['webhooks', 'deliveries'], { status, cursor });
  const read = useOperation<'webhookDeliveries.listAll'>(path, { everyMs: EVERY_MS });
  const choose = (chosen: DeliveryFilter) => {
    setStatus(chosen);
    setCursor(undefined);
  };
  const columns = deliveryColumns({ onOpen: setOpened, endpointOf: (id) => endpoints.get(id) });
  const endpoint = {
    title: 'Endpoint',
    cell: ({ endpointId }: Delivery) => (
      <a href={linkTo(['webhooks', endpointId])}>{endpoints.get(endpointId)?.url ?? endpointId}</a>
    ),
  };
  return (
    <Card
      title="Deliveries of all endpoints"
      actions={<Segments label="Status" options={DELIVERY_FILTERS} chosen={status} onChoose={choose} />}
    >
      <Loaded read={read} lines={6}>
        {({ data, nextCursor }) => (
          <>
            <Table
              label="Deliveries"
              columns={[endpoint, ...columns]}
              rows={data}
              empty={noDeliveries(status)}
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
        <AttemptsDialog
          deliveryId={opened.id}
          failing={endpoints.get(opened.endpointId)?.failing}
          onClose={() => setOpened(undefined)}
        />
      )}
    </Card>
  );
}
