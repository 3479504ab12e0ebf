import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';
import { changeQuery, linkTo, usePlace } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { words } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Pager } from '../../design/pager.tsx';
import { Card, Segments } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { FirstOne } from '../first-one.tsx';
import { StatusBadge } from '../status-badge.tsx';

const STATUSES = [
  ['', 'All'],
  ['draft', 'Draft'],
  ['published', 'Published'],
  ['archived', 'Archived'],
] as const;

export function PlanListScreen() {
  const { status = '', page = '1' } = usePlace().query;
  const plans = useOperation<'plans.list'>(apiPath(['plans'], { status, page, pageSize: 50 }));
  const choose = (chosen: string) => changeQuery({ status: chosen, page: undefined });
  return (
    <Screen title="Catalogue">
      <Card
        title="Plans"
        actions={<Segments label="Status" options={STATUSES} chosen={status} onChoose={choose} />}
      >
        <Loaded read={plans}>
          {(listed) =>
            status === '' && listed.total === 0 ? (
              <FirstOne kind="plan" />
            ) : (
              <>
                <Table label="Plans" columns={PLANS} rows={listed.data} empty="There is no such plan." />
                <Pager page={listed} onTurn={(turned) => changeQuery({ page: String(turned) })} />
              </>
            )
          }
        </Loaded>
      </Card>
      <div class="columns">
        <Features />
        <Addons />
      </div>
    </Screen>
  );
}

const PLANS: ReadonlyArray<Column<Listed<'plans.list'>>> = [
  { title: 'Plan', cell: ({ id, name }) => <a href={linkTo(['catalogue', id])}>{name}</a> },
  { title: 'Key', cell: ({ key }) => <code>{key}</code> },
  { title: 'Status', isFit: true, cell: ({ status }) => <StatusBadge status={status} /> },
  { title: 'Version', isEnd: true, cell: ({ version }) => version },
  { title: 'Product', cell: ({ productId }) => productId },
  { title: 'Changed', isFit: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

function Features() {
  const [page, setPage] = useState(1);
  const read = useOperation<'features.list'>(apiPath(['features'], { page }));
  return (
    <Card title="Features">
      <Loaded read={read}>
        {(features) =>
          features.total === 0 ? (
            <FirstOne kind="feature" />
          ) : (
            <>
              <Table
                label="Features"
                rows={features.data}
                empty="There is no such feature."
                columns={FEATURES}
              />
              <Pager page={features} onTurn={setPage} />
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

const FEATURES: ReadonlyArray<Column<Listed<'features.list'>>> = [
  { title: 'Feature', cell: ({ name }) => name },
  { title: 'Key', cell: ({ key }) => <code>{key}</code> },
  { title: 'Type', cell: ({ type }) => words(type) },
  { title: 'Meter', cell: ({ meterKey }) => (meterKey ? <code>{meterKey}</code> : '–') },
];

function Addons() {
  const [page, setPage] = useState(1);
  const read = useOperation<'addons.list'>(apiPath(['addons'], { page }));
  return (
    <Card title="Add-ons">
      <Loaded read={read}>
        {(addons) => (
          <>
            <Table
              label="Add-ons"
              rows={addons.data}
              empty="There is no add-on yet."
              columns={[
                { title: 'Add-on', cell: ({ name }) => name },
                { title: 'Key', cell: ({ key }) => <code>{key}</code> },
                { title: 'Changed', isFit: true, cell: ({ updatedAt }) => <Time at={updatedAt} isDay /> },
              ]}
            />
            <Pager page={addons} onTurn={setPage} />
          </>
        )}
      </Loaded>
    </Card>
  );
}
