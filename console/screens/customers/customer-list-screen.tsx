import { useQuery } from '../../api/graphql.ts';
import { changeQuery, linkTo, usePlace } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { counted } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { TypedField } from '../../design/typed-field.tsx';
import { FirstOne } from '../first-one.tsx';
import { CUSTOMERS, type CustomerSummary, type CustomersPage } from '../queries.ts';
import { StatusBadge } from '../status-badge.tsx';
import { SubscriptionsCard } from './subscriptions-card.tsx';

export function CustomerListScreen() {
  const { subscription } = usePlace().query;
  return (
    <Screen title="Customers">
      {subscription === undefined ? <SearchedCustomers /> : <SubscriptionsCard status={subscription} />}
    </Screen>
  );
}

function SearchedCustomers() {
  const { q = '', after } = usePlace().query;
  const read = useQuery(CUSTOMERS, { q: q === '' ? null : q, after: after ?? null });
  return (
    <>
      <TypedField
        label="Search by name, email or id"
        type="search"
        value={q}
        onInput={(typed) => changeQuery({ q: typed, after: undefined })}
        placeholder="aurora, billing@…"
      />
      <Card title={q === '' ? 'All customers' : `Customers with “${q}”`}>
        <Loaded read={read} lines={10}>
          {({ customers }) => <Found q={q} after={after} page={customers} />}
        </Loaded>
      </Card>
    </>
  );
}

interface FoundProps {
  q: string;
  after: string | undefined;
  page: CustomersPage | null;
}

function Found({ q, after, page }: FoundProps) {
  if (q === '' && page?.totalCount === 0) return <FirstOne kind="customer" />;
  return (
    <>
      <Table
        label="Customers"
        columns={COLUMNS}
        rows={page?.nodes ?? []}
        empty={q === '' ? 'There is no customer here.' : 'No customer has that text.'}
      />
      <div class="row">
        <span class="muted small">{counted(page?.totalCount ?? 0, 'customer')}</span>
        {after ? <a href={linkTo(['customers'], { q })}>First page</a> : null}
        {page?.pageInfo.hasNextPage ? (
          <a href={linkTo(['customers'], { q, after: page.pageInfo.endCursor ?? undefined })}>Next page</a>
        ) : null}
      </div>
    </>
  );
}

const COLUMNS: ReadonlyArray<Column<CustomerSummary>> = [
  { title: 'Name', cell: ({ id, name }) => <a href={linkTo(['customers', id])}>{name}</a> },
  { title: 'Email', cell: ({ email }) => email },
  { title: 'Your id', cell: ({ externalId }) => (externalId ? <code>{externalId}</code> : '–') },
  { title: 'Plans', cell: (customer) => <Plans customer={customer} /> },
  { title: 'Status', isFit: true, cell: ({ status }) => <StatusBadge status={status} /> },
  { title: 'Created', isFit: true, cell: ({ createdAt }) => <Time at={createdAt} isDay /> },
];

function Plans({ customer: { subscriptions } }: { customer: CustomerSummary }) {
  const nodes = subscriptions?.nodes ?? [];
  if (nodes.length === 0) return <span class="muted">None</span>;
  return (
    <div class="row">
      {nodes.map(({ id, planName, status }) => (
        <span key={id} class="row">
          {planName}
          {status === 'active' ? null : <StatusBadge status={status} />}
        </span>
      ))}
    </div>
  );
}
