import { useState } from 'preact/hooks';
import { useRead } from '../../api/reads.ts';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Pager } from '../../design/pager.tsx';
import { Card } from '../../design/pieces.tsx';
import { CustomerFacts } from './customer-facts.tsx';
import { DecisionTable } from './decision-table.tsx';
import { OverridesCard } from './overrides-card.tsx';
import type { Customer, Feature } from './shapes.ts';

/** As many as one check takes. */
const FEATURES_SHOWN = 100;

/** Every feature that there is, what the customer may do with it, and why. */
export function AccessTab({ customer }: { customer: Customer }) {
  const [page, setPage] = useState(1);
  const features = useOperation<'features.list'>(apiPath(['features'], { page, pageSize: FEATURES_SHOWN }));
  return (
    <div class="columns-main">
      <Card title="What may they do, and why">
        <Loaded read={features} lines={6}>
          {(listed) => (
            <>
              <Decisions customer={customer} features={listed.data} />
              <Pager page={listed} onTurn={setPage} />
            </>
          )}
        </Loaded>
      </Card>
      <div class="stack">
        <CustomerFacts customer={customer} />
        <OverridesCard customer={customer} />
      </div>
    </div>
  );
}

interface DecisionsProps {
  customer: Customer;
  features: readonly Feature[];
}

function Decisions({ customer, features }: DecisionsProps) {
  const body = { customerId: customer.id, features: features.map(({ key }) => ({ featureKey: key })) };
  const read = useRead<Responded<'entitlements.checkMany'>>(
    features.length === 0 ? undefined : { method: 'POST', path: apiPath(['entitlements', 'check']), body },
  );
  if (features.length === 0) return <p class="muted">There is no feature yet.</p>;
  return (
    <Loaded read={read} lines={6}>
      {({ data }) => <DecisionTable customer={customer} features={features} decisions={data} />}
    </Loaded>
  );
}
