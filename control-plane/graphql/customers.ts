import { rowsBy } from '../../domain/store/rows-by.ts';
import { Rejected } from '../../schemas/failures.ts';
import { CHECKS_MAX } from '../../schemas/resources/entitlements.ts';
import { shownPlan } from '../changes/change-plan.ts';
import { shownOverride } from '../overrides/shown-override.ts';
import { shownBudget } from '../routes/budgets.ts';
import { shownCredit, shownLedgerEntry } from '../routes/credits.ts';
import { shownCustomer } from '../routes/customers.ts';
import { budgetList } from '../store/budgets.ts';
import { ledgerList } from '../store/credits.ts';
import { customerList } from '../store/customers.ts';
import { overrideList } from '../store/overrides.ts';
import { subscriptionList } from '../store/subscriptions.ts';
import { shownSubscription } from '../subscriptions/shown-subscription.ts';
import { connectionType, costOfList, pageArgs, parentPage, rootPage } from './connections.ts';
import {
  Budget,
  Credits,
  Customer,
  Entitlement,
  LedgerEntry,
  Override,
  Plan,
  Subscription,
  SubscriptionStatus,
} from './resource-types.ts';
import { checkedQuery, readAs } from './rest-reads.ts';
import { builder } from './schema-builder.ts';

/** Throws Rejected for more than one check of the REST API takes. */
function checkedNames(featureKeys: readonly string[] | null | undefined): readonly string[] | undefined {
  if (featureKeys && featureKeys.length > CHECKS_MAX) {
    const message = `\`featureKeys\` must have at most ${CHECKS_MAX} items.`;
    throw new Rejected('invalid_request', message, { param: 'featureKeys' });
  }
  return featureKeys ?? undefined;
}

const Customers = connectionType('Customer', Customer);
const Subscriptions = connectionType('CustomerSubscription', Subscription);
const Budgets = connectionType('Budget', Budget);
const Overrides = connectionType('Override', Override);
const Ledger = connectionType('CreditLedger', LedgerEntry);

builder.queryFields((t) => ({
  customers: t.field({
    type: Customers,
    description: 'Newest first.',
    authScopes: { as: 'customers.list' },
    args: {
      ...pageArgs,
      email: t.arg.string({ description: 'The exact address; upper and lower case are the same.' }),
      q: t.arg.string({ description: 'Text that the name, email or `externalId` contains, or the whole `id`.' }),
    },
    complexity: costOfList(),
    resolve: (_, args, context) => {
      const list = customerList(context.environment, checkedQuery('customers.list', args));
      return rootPage(context, { name: 'customers', list, shown: shownCustomer }, args);
    },
  }),
  customer: t.field({
    type: Customer,
    authScopes: { as: 'customers.retrieve' },
    args: { id: t.arg.id({ required: true, description: "The customer's id or your own `externalId`." }) },
    resolve: (_, { id }, context) => readAs(context, 'customers.retrieve', { params: { customerId: id } }),
  }),
  subscriptions: t.field({
    type: Subscriptions,
    description: 'Newest first.',
    authScopes: { as: 'subscriptions.list' },
    args: {
      ...pageArgs,
      customerId: t.arg.id({ description: 'Id or `externalId`.' }),
      planId: t.arg.id({ description: 'Id or key.' }),
      status: t.arg({ type: SubscriptionStatus }),
    },
    complexity: costOfList(),
    resolve: (_, args, context) => {
      const list = subscriptionList(context.environment, checkedQuery('subscriptions.list', args as object));
      return rootPage(context, { name: 'subscriptions', list, shown: shownSubscription }, args);
    },
  }),
  subscription: t.field({
    type: Subscription,
    authScopes: { as: 'subscriptions.retrieve' },
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, context) =>
      readAs(context, 'subscriptions.retrieve', { params: { subscriptionId: id } }),
  }),
}));

builder.objectFields(Customer, (t) => ({
  subscriptions: t.field({
    type: Subscriptions,
    description: 'Newest first.',
    authScopes: { as: 'subscriptions.list' },
    args: { ...pageArgs, status: t.arg({ type: SubscriptionStatus }) },
    complexity: costOfList(),
    resolve: ({ id: parentId }, args, context) => {
      const filter = checkedQuery('subscriptions.list', args as object);
      const from = `${rowsBy('subscriptions', 'customer_id', 'parent.id')} subscriptions`;
      const list = { ...subscriptionList(context.environment, filter), from };
      const shownAs = { name: 'subscriptions', shown: shownSubscription };
      return parentPage(context, { ...shownAs, list, column: 'customer_id', parentId }, args);
    },
  }),
  entitlements: t.field({
    type: [Entitlement],
    description:
      'By feature key: every feature that a subscription or an override of the customer names, or those in ' +
      '`featureKeys` in their order, also unknown ones and ones that the customer does not have.',
    authScopes: { as: 'entitlements.list' },
    args: { featureKeys: t.arg.idList({ description: 'Keys or ids, at most 100.' }) },
    complexity: ({ featureKeys }) => ({ field: Math.max(10, featureKeys?.length ?? 0), multiplier: 10 }),
    resolve: ({ id: customerId }, { featureKeys }, context) =>
      context.loaders.decisions.load({ customerId, featureKeys: checkedNames(featureKeys) }),
  }),
}));

builder.objectFields(Customer, (t) => ({
  credits: t.field({
    type: Credits,
    authScopes: { as: 'credits.retrieve' },
    complexity: { field: 5, multiplier: 1 },
    resolve: async ({ id }, _, context) => shownCredit(await context.loaders.credits.load(id), id),
  }),
  creditLedger: t.field({
    type: Ledger,
    description: 'Newest first.',
    authScopes: { as: 'credits.listLedger' },
    args: pageArgs,
    complexity: costOfList(),
    resolve: ({ id: parentId }, args, context) => {
      const list = ledgerList(context.environment);
      const shownAs = { name: 'ledger', shown: shownLedgerEntry };
      return parentPage(context, { ...shownAs, list, column: 'customer_id', parentId }, args);
    },
  }),
  budgets: t.field({
    type: Budgets,
    description: 'Newest first.',
    authScopes: { as: 'budgets.list' },
    args: pageArgs,
    complexity: costOfList(),
    resolve: ({ id: parentId }, args, context) => {
      const list = budgetList(context.environment);
      const shownAs = { name: 'budgets', shown: shownBudget };
      return parentPage(context, { ...shownAs, list, column: 'customer_id', parentId }, args);
    },
  }),
  overrides: t.field({
    type: Overrides,
    description: 'Newest first, expired ones too.',
    authScopes: { as: 'overrides.list' },
    args: pageArgs,
    complexity: costOfList(),
    resolve: ({ id: parentId }, args, context) => {
      const list = overrideList(context.environment);
      const shownAs = { name: 'overrides', shown: shownOverride };
      return parentPage(context, { ...shownAs, list, column: 'customer_id', parentId }, args);
    },
  }),
}));

builder.objectFields(Subscription, (t) => ({
  customer: t.field({
    type: Customer,
    authScopes: { as: 'customers.retrieve' },
    resolve: async ({ customerId }, _, { loaders }) => {
      const row = await loaders.customers.load(customerId);
      return row && shownCustomer(row);
    },
  }),
  plan: t.field({
    type: Plan,
    description: 'As it is now; the subscription may be pinned to an earlier version.',
    authScopes: { as: 'plans.retrieve' },
    resolve: async ({ planId }, _, { loaders }) => {
      const row = await loaders.plans.load(planId);
      return row && shownPlan(row);
    },
  }),
}));

builder.objectField(Entitlement, 'unlimited', (t) =>
  t.boolean({
    nullable: false,
    description: 'Whether the customer has as much of it as it wants: `effectiveValue` is then null.',
    resolve: ({ effectiveValue }) => effectiveValue === null,
  }),
);
