import { apiPath, useOperation } from '../../api/rest.ts';
import { linkTo } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { count } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Figure } from '../../design/pieces.tsx';
import { AuditCard } from '../audit-card.tsx';
import { FailedDeliveries } from '../failed-deliveries.tsx';
import { InstallationFigures } from '../installation-figures.tsx';

const CHANGES_SHOWN = 8;

export function OverviewScreen() {
  const endpoints = useOperation<'listWebhookEndpoints'>(apiPath(['webhooks', 'endpoints']));
  return (
    <Screen title="Overview">
      <InstallationFigures />
      <Totals />
      <div class="columns">
        <Loaded read={endpoints}>{({ data }) => <FailedDeliveries endpoints={data} />}</Loaded>
      </div>
      <AuditCard title="Recent changes" pageSize={CHANGES_SHOWN} />
    </Screen>
  );
}

/** How much there is in this mode. */
function Totals() {
  const ONE = { pageSize: 1 };
  const customers = useOperation<'customers.list'>(apiPath(['customers'], ONE));
  const active = useOperation<'subscriptions.list'>(apiPath(['subscriptions'], { ...ONE, status: 'active' }));
  const late = useOperation<'subscriptions.list'>(apiPath(['subscriptions'], { ...ONE, status: 'past_due' }));
  const shown = (total: number | undefined) => (total === undefined ? '…' : count(total));
  return (
    <dl class="figures">
      <Figure
        name="Customers"
        value={shown(customers.data?.total)}
        note={<a href={linkTo(['customers'])}>See them</a>}
      />
      <Figure name="Active subscriptions" value={shown(active.data?.total)} />
      <Figure name="Past due" value={shown(late.data?.total)} />
    </dl>
  );
}
