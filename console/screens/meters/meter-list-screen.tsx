import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';
import { changeQuery, linkTo, usePlace } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { words } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Pager } from '../../design/pager.tsx';
import { Card } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { FirstOne } from '../first-one.tsx';
import { StatusBadge } from '../status-badge.tsx';

export function MeterListScreen() {
  const { page = '1' } = usePlace().query;
  const read = useOperation<'meters.list'>(apiPath(['meters'], { page, pageSize: 50 }));
  return (
    <Screen title="Meters">
      <Card title="All meters">
        <Loaded read={read} lines={6}>
          {(meters) =>
            meters.total === 0 ? (
              <FirstOne
                kind="meter"
                text="There is no meter in this mode yet. A usage event with a new meterId makes one, too."
              />
            ) : (
              <>
                <Table label="Meters" columns={COLUMNS} rows={meters.data} empty="There is no meter here." />
                <Pager page={meters} onTurn={(turned) => changeQuery({ page: String(turned) })} />
              </>
            )
          }
        </Loaded>
      </Card>
    </Screen>
  );
}

const COLUMNS: ReadonlyArray<Column<Listed<'meters.list'>>> = [
  { title: 'Meter', cell: ({ key, name }) => <a href={linkTo(['meters', key])}>{name}</a> },
  { title: 'Key', cell: ({ key }) => <code>{key}</code> },
  { title: 'Counts', cell: ({ aggregation }) => words(aggregation) },
  { title: 'Unit', cell: ({ unit }) => unit ?? '–' },
  { title: 'Credits for a unit', isEnd: true, cell: ({ creditRate }) => creditRate ?? '–' },
  { title: 'Status', isFit: true, cell: ({ status }) => <StatusBadge status={status} /> },
  { title: 'Created', isFit: true, cell: ({ createdAt }) => <Time at={createdAt} isDay /> },
];
