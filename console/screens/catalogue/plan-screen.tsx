import { askToChange } from '../../api/change.tsx';
import { apiPath, useOperation } from '../../api/rest.ts';
import { linkTo } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { count } from '../../design/figures.ts';
import { Failure, Skeleton } from '../../design/loaded.tsx';
import { Card, Facts } from '../../design/pieces.tsx';
import { Time } from '../../design/times.tsx';
import { StatusBadge } from '../status-badge.tsx';
import { CreditGrantsCard } from './credit-grants-card.tsx';
import { EntitlementsCard } from './entitlements-card.tsx';
import { PricesCard } from './prices-card.tsx';
import type { Plan } from './shapes.ts';
import { type Subscribers, SubscriptionsKept, useSubscribers } from './subscribers.tsx';
import { VersionsCard } from './versions-card.tsx';

export function PlanScreen({ planId }: { planId: string }) {
  const read = useOperation<'plans.retrieve'>(apiPath(['plans', planId]));
  const plan = read.data;
  return (
    <Screen
      title={plan?.name ?? 'Plan'}
      above={{ text: 'Catalogue', link: linkTo(['catalogue']) }}
      badges={plan ? <StatusBadge status={plan.status} /> : null}
      actions={plan ? <Actions plan={plan} etag={read.etag} /> : null}
    >
      {plan ? <PlanBody plan={plan} /> : null}
      {read.error && !plan ? <Failure error={read.error} onRetry={read.reload} /> : null}
      {plan || read.error ? null : <Skeleton lines={6} />}
    </Screen>
  );
}

function PlanBody({ plan }: { plan: Plan }) {
  const subscribers = useSubscribers(plan.id);
  return (
    <div class="columns-main">
      <div class="stack">
        <EntitlementsCard plan={plan} subscribers={subscribers} />
        <PricesCard plan={plan} subscribers={subscribers} />
        <CreditGrantsCard plan={plan} />
        <VersionsCard key={plan.version} plan={plan} />
      </div>
      <PlanFacts plan={plan} subscribers={subscribers} />
    </div>
  );
}

function PlanFacts({ plan, subscribers }: { plan: Plan; subscribers: Subscribers | undefined }) {
  const { id, key, productId, version, description, highlights = [], createdAt, updatedAt } = plan;
  const number = subscribers ? count(subscribers.following + subscribers.pinned) : '…';
  return (
    <Card title="Plan">
      <Facts
        facts={[
          ['Key', <code>{key}</code>],
          ['Id', <code>{id}</code>],
          ['Product', productId],
          ['Version', String(version)],
          ['Subscriptions', subscribers?.isExact === false ? `up to ${number}` : number],
          ...(description === undefined ? [] : [['Description', description] as const]),
          ...(highlights.length === 0 ? [] : [['Highlights', highlights.join(' · ')] as const]),
          ['Created', <Time at={createdAt} isDay />],
          ['Changed', <Time at={updatedAt} />],
        ]}
      />
    </Card>
  );
}

/** Forward only: a draft is published, a published plan archived. */
function Actions({ plan, etag }: { plan: Plan; etag: string | undefined }) {
  const subscribers = useSubscribers(plan.id);
  const { id, name, status } = plan;
  const headers: Record<string, string> = etag === undefined ? {} : { 'If-Match': etag };
  if (status === 'archived') return null;
  const askToPublish = () =>
    askToChange({
      title: `Publish ${name}?`,
      effect:
        'Customers can subscribe to it, and pricing pages show it from now on. It cannot become a draft ' +
        'again. What present subscriptions may do does not change.',
      verb: 'Publish',
      request: { method: 'POST', path: apiPath(['plans', id, 'publish']), headers },
      done: `${name} is published.`,
    });
  const askToArchive = () =>
    askToChange({
      title: `Archive ${name}?`,
      effect: (
        <>
          <p>
            It takes no new subscriptions, pricing pages no longer show it, and it cannot be published again.
          </p>
          <SubscriptionsKept subscribers={subscribers} />
        </>
      ),
      verb: 'Archive',
      isDanger: true,
      request: { method: 'POST', path: apiPath(['plans', id, 'archive']), headers },
      done: `${name} was archived.`,
    });
  return status === 'draft' ? (
    <button type="button" class="button button-primary" onClick={askToPublish}>
      Publish
    </button>
  ) : (
    <button type="button" class="button" onClick={askToArchive}>
      Archive
    </button>
  );
}
