import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import { words } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card } from '../../design/pieces.tsx';
import { Table } from '../../design/table.tsx';
import { EntitlementsForm } from './entitlements-form.tsx';
import { givenText, type Plan } from './shapes.ts';
import type { Subscribers } from './subscribers.tsx';

interface EntitlementsCardProps {
  plan: Plan;
  subscribers: Subscribers | undefined;
}

export function EntitlementsCard({ plan, subscribers }: EntitlementsCardProps) {
  const [isEdited, setEdited] = useState(false);
  const read = useOperation<'plans.retrieveEntitlements'>(apiPath(['plans', plan.id, 'entitlements']));
  const edit = (
    <button type="button" class="button" disabled={!read.data} onClick={() => setEdited(true)}>
      Edit
    </button>
  );
  return (
    <Card title="Entitlements" actions={isEdited ? null : edit}>
      <Loaded read={read}>
        {({ entitlements }) =>
          isEdited ? (
            <EntitlementsForm
              plan={plan}
              given={entitlements}
              etag={read.etag}
              subscribers={subscribers}
              onClose={() => setEdited(false)}
            />
          ) : (
            <Table
              label="Entitlements"
              rows={entitlements}
              empty="The plan grants nothing yet."
              columns={[
                { title: 'Feature', cell: ({ featureKey }) => <code>{featureKey}</code> },
                { title: 'Type', cell: ({ type }) => words(type) },
                { title: 'Value', isEnd: true, cell: givenText },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
