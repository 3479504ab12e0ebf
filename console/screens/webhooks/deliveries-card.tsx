import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import { changeQuery, usePlace } from '../../app/place.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Pager } from '../../design/pager.tsx';
import { Card, Segments } from '../../design/pieces.tsx';
import { Table } from '../../design/table.tsx';
import { AttemptsDialog } from './attempts-dialog.tsx';
import { deliveryColumns } from './delivery-columns.tsx';
import { DELIVERY_FILTERS, type DeliveryFilter, noDeliveries } from './delivery-filters.ts';
import type { EndpointState } from './failing.ts';

const EVERY_MS = 10_000;

interface DeliveriesCardProps {
  endpointId: string;
  /** Undefined until it is read. */
  endpoint: EndpointState | undefined;
}

export function DeliveriesCard({ endpointId, endpoint }: DeliveriesCardProps) {
  const { status = '', page = '1' } = usePlace().query;
  const [opened, setOpened] = useState<string>();
  const read = useOperation<'webhookDeliveries.list'>(
    apiPath(['webhooks', 'endpoints', endpointId, 'deliveries'], { status, page }),
    { everyMs: EVERY_MS },
  );
  const columns = deliveryColumns({ onOpen: ({ id }) => setOpened(id), endpointOf: () => endpoint });
  const choose = (chosen: string) => changeQuery({ status: chosen, page: undefined });
  return (
    <Card
      title="Deliveries"
      actions={
        <Segments
          label="Status"
          options={DELIVERY_FILTERS}
          chosen={status as DeliveryFilter}
          onChoose={choose}
        />
      }
    >
      <Loaded read={read} lines={8}>
        {(data) => (
          <>
            <Table label="Deliveries" columns={columns} rows={data.data} empty={noDeliveries(status)} />
            <Pager page={data} onTurn={(turned) => changeQuery({ page: String(turned) })} />
          </>
        )}
      </Loaded>
      {opened === undefined ? null : (
        <AttemptsDialog
          deliveryId={opened}
          failing={endpoint?.failing}
          onClose={() => setOpened(undefined)}
        />
      )}
    </Card>
  );
}
