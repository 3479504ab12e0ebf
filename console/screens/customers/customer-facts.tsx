import { Card, Facts } from '../../design/pieces.tsx';
import { Time } from '../../design/times.tsx';
import type { Customer } from './shapes.ts';

export function CustomerFacts({ customer }: { customer: Customer }) {
  const { id, email, externalId, processorCustomerId, metadata = {}, createdAt } = customer;
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
          ...Object.entries(metadata).map(([name, value]) => [name, String(value)] as const),
          ['Created', <Time at={createdAt} />],
        ]}
      />
    </Card>
  );
}
