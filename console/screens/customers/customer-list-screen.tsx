import { useEffect, useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';
import { changeQuery, linkTo, usePlace } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { Field } from '../../design/fields.tsx';
import { Loaded } from '../../design/loaded.tsx';
import { Pager } from '../../design/pager.tsx';
import { Card } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { StatusBadge } from '../status-badge.tsx';

type Customer = Listed<'customers.list'>;

/** After the last key: each search reads the customers of the environment. */
const TYPING_MS = 250;

export function CustomerListScreen() {
  const { q = '', page = '1' } = usePlace().query;
  const [typed, setTyped] = useState(q);
  useEffect(() => {
    if (typed === q) return undefined;
    const timer = setTimeout(() => changeQuery({ q: typed, page: undefined }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, q]);
  const read = useOperation<'customers.list'>(apiPath(['customers'], { q, page, pageSize: 25 }));
  return (
    <Screen title="Customers">
      <Field
        label="Search by name, email or your own id"
        type="search"
        value={typed}
        onInput={setTyped}
        placeholder="aurora, billing@…"
      />
      <Card title={q === '' ? 'All customers' : `Customers with “${q}”`}>
        <Loaded read={read} lines={10}>
          {(customers) => (
            <>
              <Table
                label="Customers"
                columns={COLUMNS}
                rows={customers.data}
                empty={q === '' ? 'There is no customer yet.' : 'No customer has that text.'}
              />
              <Pager page={customers} onTurn={(turned) => changeQuery({ page: String(turned) })} />
            </>
          )}
        </Loaded>
      </Card>
    </Screen>
  );
}

const COLUMNS: ReadonlyArray<Column<Customer>> = [
  { title: 'Name', cell: ({ id, name }) => <a href={linkTo(['customers', id])}>{name}</a> },
  { title: 'Email', cell: ({ email }) => email },
  { title: 'Your id', cell: ({ externalId }) => (externalId ? <code>{externalId}</code> : '–') },
  { title: 'Status', isFit: true, cell: ({ status }) => <StatusBadge status={status} /> },
  { title: 'Created', isFit: true, cell: ({ createdAt }) => <Time at={createdAt} isDay /> },
];
