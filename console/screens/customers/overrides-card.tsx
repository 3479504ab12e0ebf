import { askToChange } from '../../api/change.tsx';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card } from '../../design/pieces.tsx';
import { Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { type Customer, valueText } from './shapes.ts';

type Override = Listed<'overrides.list'>;

export function OverridesCard({ customer }: { customer: Customer }) {
  const read = useOperation<'overrides.list'>(
    apiPath(['customers', customer.id, 'overrides'], { pageSize: 100 }),
  );
  return (
    <Card title="Overrides">
      <Loaded read={read} lines={2}>
        {({ data }) => (
          <Table
            label="Overrides"
            rows={data}
            empty="Plans alone decide."
            columns={[
              { title: 'Feature', cell: ({ featureKey }) => <code>{featureKey}</code> },
              { title: 'Value', cell: (override) => <Value override={override} /> },
              {
                title: 'Actions',
                isUntitled: true,
                isEnd: true,
                isFit: true,
                cell: (override) => (
                  <button type="button" class="button" onClick={() => askToRemove(customer, override)}>
                    Remove
                  </button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

function Value({ override: { value, expiresAt, reason } }: { override: Override }) {
  return (
    <>
      {valueText(value)}
      {expiresAt === undefined ? null : (
        <div class="small muted">
          until <Time at={expiresAt} />
        </div>
      )}
      {reason === undefined ? null : <div class="small muted">{reason}</div>}
    </>
  );
}

function askToRemove({ id, name }: Customer, { featureKey }: Override): void {
  askToChange({
    title: `Remove the override of ${featureKey}?`,
    effect: `The plans of ${name} decide again.`,
    verb: 'Remove override',
    isDanger: true,
    request: { method: 'DELETE', path: apiPath(['customers', id, 'overrides', featureKey]) },
    done: 'The override was removed.',
  });
}
