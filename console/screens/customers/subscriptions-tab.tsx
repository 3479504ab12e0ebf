import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';
import { linkTo } from '../../app/place.ts';
import { counted } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Pager } from '../../design/pager.tsx';
import { Card } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { StatusBadge } from '../status-badge.tsx';
import type { Customer } from './shapes.ts';

type Subscription = Listed<'subscriptions.list'>;

const ENDED = ['canceled', 'incomplete_expired'];

export function SubscriptionsTab({ customer }: { customer: Customer }) {
  const [page, setPage] = useState(1);
  const read = useOperation<'subscriptions.list'>(
    apiPath(['subscriptions'], { customerId: customer.id, page }),
  );
  const addons = useOperation<'addons.list'>(apiPath(['addons'], { pageSize: ADDONS_NAMED }));
  const names = new Map((addons.data?.data ?? []).map(({ id, name }) => [id, name]));
  return (
    <Card title="Subscriptions">
      <Loaded read={read}>
        {(subscriptions) => (
          <>
            <Table
              label="Subscriptions"
              columns={columnsWith(names)}
              rows={subscriptions.data}
              empty="There is no subscription. Plans grant nothing."
            />
            <Pager page={subscriptions} onTurn={setPage} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

/** Names of add-ons, by id: of others the id is shown. */
type Names = ReadonlyMap<string, string>;
const ADDONS_NAMED = 100;

const columnsWith = (names: Names): ReadonlyArray<Column<Subscription>> => [
  { title: 'Plan', cell: (subscription) => <PlanOf subscription={subscription} /> },
  { title: 'Status', isFit: true, cell: ({ status }) => <StatusBadge status={status} /> },
  { title: 'Period', cell: (subscription) => <Period subscription={subscription} /> },
  { title: 'Add-ons', cell: ({ addons }) => addonsText(addons, names) },
  {
    title: 'Actions',
    isUntitled: true,
    isEnd: true,
    isFit: true,
    cell: (subscription) =>
      ENDED.includes(subscription.status) ? null : (
        <button type="button" class="button" onClick={() => askToCancel(subscription)}>
          Cancel
        </button>
      ),
  },
];

function PlanOf({ subscription }: { subscription: Subscription }) {
  const { id, planId, planName, planVersion, pendingPlanId } = subscription;
  return (
    <>
      <a href={linkTo(['catalogue', planId])}>{planName}</a>
      {planVersion === undefined ? null : <span class="muted small"> pinned to version {planVersion}</span>}
      {pendingPlanId === undefined ? null : (
        <div class="small muted">
          changes to <code>{pendingPlanId}</code> at the end of the period
        </div>
      )}
      <div>
        <code class="id muted">{id}</code>
      </div>
    </>
  );
}

function Period({ subscription }: { subscription: Subscription }) {
  const { currentPeriodStart, currentPeriodEnd, interval, intervalCount = 1 } = subscription;
  const { trialEnd, cancelAt, canceledAt } = subscription;
  const notes = [
    ['trial ends', trialEnd],
    ['will be canceled', cancelAt],
    ['was canceled', canceledAt],
  ] as const;
  return (
    <>
      <Time at={currentPeriodStart} isDay /> – <Time at={currentPeriodEnd} isDay />
      {interval === undefined ? null : (
        <span class="muted small whole">
          {' '}
          every {intervalCount === 1 ? interval : counted(intervalCount, interval)}
        </span>
      )}
      {notes.map(([text, at]) =>
        at === undefined ? null : (
          <div key={text} class="small muted">
            {text} <Time at={at} isDay />
          </div>
        ),
      )}
    </>
  );
}

function addonsText(addons: Subscription['addons'], names: Names): string {
  const texts = addons.map(({ addonId, quantity }) => `${names.get(addonId) ?? addonId} × ${quantity}`);
  return texts.join(', ') || '–';
}

function askToCancel({ id, planName, currentPeriodEnd }: Subscription): void {
  askToChange({
    title: `Cancel ${planName} at the end of its period?`,
    effect: (
      <p>
        It grants what it grants until <Time at={currentPeriodEnd} />, and nothing after that.
      </p>
    ),
    verb: 'Cancel subscription',
    keep: 'Keep it',
    isDanger: true,
    request: { method: 'POST', path: apiPath(['subscriptions', id, 'cancel']), body: { at: 'period_end' } },
    done: `${planName} ends with its period.`,
  });
}
