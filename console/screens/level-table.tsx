import type { Listed } from '../api/wire.ts';
import { linkTo } from '../app/place.ts';
import { amount } from '../design/figures.ts';
import { Share } from '../design/pieces.tsx';
import { type Column, Table } from '../design/table.tsx';
import { useCustomerNames } from './customer-names.ts';
import { boundOf } from './level-bound.ts';

export type Level = Listed<'usageLevels.list'>;

/** Customers with what they have used of a limit or budget. */
export function LevelTable({ levels, empty }: { levels: readonly Level[]; empty: string }) {
  const names = useCustomerNames(levels.map(({ customerId }) => customerId));
  return (
    <Table label="Customers near or over a limit" columns={columnsWith(names)} rows={levels} empty={empty} />
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
    { title: 'Used', isEnd: true, isFit: true, cell: (level) => <Used level={level} /> },
    {
      title: 'Share',
      cell: (level) => (
        <Share share={level.share} of={`Used of the ${boundOf(level).kind} of ${level.meterId}`} />
      ),
    },
  ];
}

function Used({ level }: { level: Level }) {
  const { kind, value } = boundOf(level);
  return (
    <>
      {amount(level.current)} of {amount(value)} <span class="small muted">{kind}</span>
    </>
  );
}
