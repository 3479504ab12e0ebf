import { apiPath, useOperation } from '../api/rest.ts';
import type { Listed } from '../api/wire.ts';
import { linkTo } from '../app/place.ts';
import { amount } from '../design/figures.ts';
import { Loaded } from '../design/loaded.tsx';
import { Card, NEAR, Share } from '../design/pieces.tsx';
import { type Column, Table } from '../design/table.tsx';
import { useCustomerNames } from './customer-names.ts';

type Level = Listed<'usageLevels.list'>;

const SHOWN = 10;
const EVERY_MS = 15_000;

/** The customers that have used most of a limit or budget. */
export function NearLimit() {
  const path = apiPath(['usage', 'levels'], { above: NEAR, limit: SHOWN });
  const read = useOperation<'usageLevels.list'>(path, { everyMs: EVERY_MS });
  const names = useCustomerNames((read.data?.data ?? []).map(({ customerId }) => customerId));
  return (
    <Card title="Near or over a limit">
      <Loaded read={read} lines={4}>
        {({ data }) => (
          <Table
            label="Customers near or over a limit"
            columns={columnsWith(names)}
            rows={data}
            empty="No customer has used 80 % of a limit or budget."
          />
        )}
      </Loaded>
    </Card>
  );
}

function columnsWith(names: ReadonlyMap<string, string>): Array<Column<Level>> {
  return [
    {
      title: 'Customer',
      cell: ({ customerId, meterId }) => (
        <a href={linkTo(['customers', customerId], { tab: 'usage', meter: meterId })}>
          {names.get(customerId) ?? customerId}
        </a>
      ),
    },
    { title: 'Meter', isFit: true, cell: ({ meterId }) => <code>{meterId}</code> },
    {
      title: 'Used',
      isEnd: true,
      isFit: true,
      cell: ({ current, limit, budget }) => `${amount(current)} of ${amount(limit ?? budget ?? '0')}`,
    },
    { title: 'Share', cell: ({ share, meterId }) => <Share share={share} of={`Used of ${meterId}`} /> },
  ];
}
