import { Card, Facts } from '../../design/pieces.tsx';
import { Time } from '../../design/times.tsx';
import { otherFacts } from './other-facts.ts';
import type { Customer } from './shapes.ts';

export function CustomerFacts({ customer }: { customer: Customer }) {
  // The name and the status are in the head of the screen.
  const {
    name,
    status,
    id,
    email,
    externalId,
    processorCustomerId,
    metadata = {},
    createdAt,
    ...others
  } = customer;
  return (
    <Card title="Customer">
      <Facts
        facts={[
          ['Id', <code>{id}</code>],
          ['Your id', externalId === undefined ? '–' : <code>{externalId}</code>],
          ['Email', email],
          ...(processorCustomerId === undefined
            ? []
            : [['Processor id', <code>{processorCustomerId}</code>] as const]),
          ...otherFacts(others),
          ...Object.entries(metadata).map(([key, value]) => [key, String(value)] as const),
          ['Created', <Time at={createdAt} />],
        ]}
      />
    </Card>
  );
}
