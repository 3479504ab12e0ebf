import { useQuery } from '../../api/graphql.ts';
import { linkTo } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { count } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Figure } from '../../design/pieces.tsx';
import { AuditTable } from '../audit-card.tsx';
import { FailedDeliveries } from '../failed-deliveries.tsx';
import { InstallationFigures } from '../installation-figures.tsx';
import { NearLimit } from '../near-limit.tsx';
import { OVERVIEW } from '../queries.ts';
import { LevelsScreen } from './levels-screen.tsx';

const EVERY_MS = 15_000;

export function OverviewScreen({ path: [list] }: { path: string[] }) {
  return list === 'levels' ? <LevelsScreen /> : <Overview />;
}

function Overview() {
  const read = useQuery(OVERVIEW, {}, { everyMs: EVERY_MS });
  const { customers, active, trialing, late } = read.data ?? {};
  return (
    <Screen title="Overview">
      <InstallationFigures />
      <dl class="figures">
        <Figure
          name="Customers"
          value={totalText(customers)}
          note={<a href={linkTo(['customers'])}>See them</a>}
        />
        <Figure name="Trialing" value={totalText(trialing)} note="subscriptions, not paid yet" />
        <Figure name="Active subscriptions" value={totalText(active)} note="in this mode" />
        <Figure
          name="Past due"
          value={totalText(late)}
          note={<a href={linkTo(['customers'], { subscription: 'past_due' })}>Subscriptions not paid</a>}
        />
      </dl>
      <div class="columns-main columns-even">
        <NearLimit />
        <Card title="Webhook endpoints">
          <Loaded read={read}>
            {({ webhookEndpoints }) => <FailedDeliveries endpoints={webhookEndpoints ?? []} />}
          </Loaded>
        </Card>
      </div>
      <Card title="Recent changes">
        <Loaded read={read} lines={6}>
          {({ auditLog }) => <AuditTable label="Recent changes" entries={auditLog?.nodes ?? []} />}
        </Loaded>
      </Card>
    </Screen>
  );
}

function totalText(total: { totalCount: number | null } | null | undefined): string {
  return total?.totalCount == null ? '…' : count(total.totalCount);
}
