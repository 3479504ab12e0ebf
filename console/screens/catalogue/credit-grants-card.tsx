import { apiPath, useOperation } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { amount } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import type { Plan } from './shapes.ts';

type Grant = Responded<'plans.retrieveCreditGrants'>['creditGrants'][number];

/** The credits that the plan grants in each period. */
export function CreditGrantsCard({ plan }: { plan: Plan }) {
  const read = useOperation<'plans.retrieveCreditGrants'>(apiPath(['plans', plan.id, 'credit-grants']));
  return (
    <Card title="Recurring credits">
      <Loaded read={read} lines={2}>
        {({ creditGrants }) => (
          <Table
            label="Recurring credits"
            columns={COLUMNS}
            rows={creditGrants}
            empty="The plan grants no credits."
          />
        )}
      </Loaded>
    </Card>
  );
}

const COLUMNS: ReadonlyArray<Column<Grant>> = [
  { title: 'Grant', cell: ({ key }) => <code>{key}</code> },
  { title: 'Credits', isEnd: true, cell: (grant) => amount(grant.amount) },
  { title: 'Every', cell: ({ every }) => (every === 'month' ? 'month' : 'billing period') },
  { title: 'Expire', cell: ({ expires }) => (expires === 'never' ? 'Never' : 'At its end') },
  { title: 'Carried over', cell: rolloverText },
];

function rolloverText({ rollover }: Grant): string {
  if (rollover === undefined) return 'Nothing';
  const most = rollover.max === undefined ? '' : `, at most ${amount(rollover.max)}`;
  return `${amount(rollover.percent)} % of what is left${most}`;
}
