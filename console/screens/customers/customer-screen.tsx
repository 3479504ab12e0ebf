import type { ComponentType } from 'preact';
import { askToChange } from '../../api/change.tsx';
import { apiPath, useOperation } from '../../api/rest.ts';
import { linkTo, usePlace } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { Failure, Skeleton } from '../../design/loaded.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { StatusBadge } from '../status-badge.tsx';
import { AccessTab } from './access-tab.tsx';
import { AuditTab } from './audit-tab.tsx';
import { CostTab } from './cost-tab.tsx';
import { CreditsTab } from './credits-tab.tsx';
import type { Customer } from './shapes.ts';
import { SubscriptionsTab } from './subscriptions-tab.tsx';
import { UsageTab } from './usage-tab.tsx';

interface Tab {
  name: string;
  title: string;
  Show: ComponentType<{ customer: Customer }>;
}

const TABS: readonly Tab[] = [
  { name: 'access', title: 'Access and why', Show: AccessTab },
  { name: 'usage', title: 'Usage', Show: UsageTab },
  { name: 'subscriptions', title: 'Subscriptions', Show: SubscriptionsTab },
  { name: 'cost', title: 'Cost', Show: CostTab },
  { name: 'credits', title: 'Credits', Show: CreditsTab },
  { name: 'audit', title: 'Audit trail', Show: AuditTab },
];

export function CustomerScreen({ customerId }: { customerId: string }) {
  const { tab = 'access' } = usePlace().query;
  const read = useOperation<'customers.retrieve'>(apiPath(['customers', customerId]));
  const customer = read.data;
  const shown = TABS.find(({ name }) => name === tab) ?? TABS[0];
  return (
    <Screen
      title={customer?.name ?? 'Customer'}
      above={{ text: 'Customers', link: linkTo(['customers']) }}
      badges={customer ? <StatusBadge status={customer.status} /> : null}
      actions={customer ? <ArchiveButton customer={customer} etag={read.etag} /> : null}
    >
      <Tabs
        label="About this customer"
        tabs={TABS.map(({ name, title }) => ({
          ...{ name, title },
          link: linkTo(['customers', customerId], { tab: name }),
        }))}
        current={shown?.name}
      />
      {customer && shown ? <shown.Show key={shown.name} customer={customer} /> : null}
      {read.error && !customer ? <Failure error={read.error} onRetry={read.reload} /> : null}
      {customer || read.error ? null : <Skeleton lines={6} />}
    </Screen>
  );
}

function ArchiveButton({ customer, etag }: { customer: Customer; etag: string | undefined }) {
  const { id, name, status } = customer;
  if (status === 'archived') return null;
  const ask = () =>
    askToChange({
      title: `Archive ${name}?`,
      effect:
        'From now on it has no entitlements and takes no usage, subscriptions, overrides or credits. What it ' +
        'used stays readable. Its subscriptions are not canceled by this: cancel those that should not go ' +
        'on. An archived customer cannot become active again.',
      verb: 'Archive',
      isDanger: true,
      request: {
        method: 'POST',
        path: apiPath(['customers', id, 'archive']),
        headers: etag === undefined ? {} : { 'If-Match': etag },
      },
      done: `${name} was archived.`,
    });
  return (
    <button type="button" class="button" onClick={ask}>
      Archive
    </button>
  );
}
