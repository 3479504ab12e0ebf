import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import { changeQuery, usePlace } from '../../app/place.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Pager } from '../../design/pager.tsx';
import { Card, Segments } from '../../design/pieces.tsx';
import { Table } from '../../design/table.tsx';
import { AttemptsDialog } from './attempts-dialog.tsx';
import { deliveryColumns } from './delivery-columns.tsx';

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
              columns={deliveryColumns(setOpened)}
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
