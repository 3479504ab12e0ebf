import { useQuery } from '../../api/graphql.ts';
import { linkTo, usePlace } from '../../app/place.ts';
import { counted, words } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { SUBSCRIPTIONS, type SubscriptionSummary } from '../queries.ts';
import { StatusBadge } from '../status-badge.tsx';

/** The subscriptions in one status, each with its customer. */
export function SubscriptionsCard({ status }: { status: string }) {
  const { after } = usePlace().query;
  const read = useQuery(SUBSCRIPTIONS, { status, after: after ?? null });
  const link = (cursor?: string) => linkTo(['customers'], { subscription: status, after: cursor });
  return (
    <Card
      title={`Subscriptions: ${words(status)}`}
      actions={<a href={linkTo(['customers'])}>All customers</a>}
    >
      <Loaded read={read} lines={6}>
        {({ subscriptions }) => (
          <>
            <Table
              label={`Subscriptions: ${words(status)}`}
              columns={COLUMNS}
              rows={subscriptions?.nodes ?? []}
              empty="No subscription has this status."
            />
            <div class="row">
              <span class="muted small">{counted(subscriptions?.totalCount ?? 0, 'subscription')}</span>
              {after ? <a href={link()}>First page</a> : null}
              {subscriptions?.pageInfo.hasNextPage ? (
                <a href={link(subscriptions.pageInfo.endCursor ?? undefined)}>Next page</a>
              ) : null}
            </div>
          </>
        )}
      </Loaded>
    </Card>
  );
}

const COLUMNS: ReadonlyArray<Column<SubscriptionSummary>> = [
  {
    title: 'Customer',
    cell: ({ customerId, customer }) => (
      <a href={linkTo(['customers', customerId], { tab: 'subscriptions' })}>{customer?.name ?? customerId}</a>
    ),
  },
  { title: 'Plan', cell: ({ planName }) => planName },
  { title: 'Status', isFit: true, cell: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'Period from',
    isFit: true,
    cell: ({ currentPeriodStart }) => <Time at={currentPeriodStart} isDay />,
  },
  { title: 'to', isFit: true, cell: ({ currentPeriodEnd }) => <Time at={currentPeriodEnd} isDay /> },
];
