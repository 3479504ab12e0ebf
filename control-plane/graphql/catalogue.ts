import { PLAN_STATUSES } from '../../schemas/value-sets.ts';
import { requestedVersion, shownPlan } from '../changes/change-plan.ts';
import { shownAddon } from '../routes/addons.ts';
import { shownFeature } from '../routes/features.ts';
import { shownMeter } from '../routes/meters.ts';
import { shownProduct } from '../routes/products.ts';
import { addonList } from '../store/addons.ts';
import { featureList } from '../store/features.ts';
import { meterList } from '../store/meters.ts';
import { planList } from '../store/plans.ts';
import { productList } from '../store/products.ts';
import { connectionType, costOfList, pageArgs, rootPage } from './connections.ts';
import { enumOf } from './resource-fields.ts';
import { Addon, Feature, GivenEntitlement, Meter, Plan, Price, Product } from './resource-types.ts';
import { checkedQuery, readAs } from './rest-reads.ts';
import { builder } from './schema-builder.ts';

const PlanStatus = enumOf('PlanStatus', PLAN_STATUSES);

const Products = connectionType('Product', Product);
const Plans = connectionType('Plan', Plan);
const Features = connectionType('Feature', Feature);
const Addons = connectionType('Addon', Addon);
const Meters = connectionType('Meter', Meter);

builder.queryFields((t) => ({
  products: t.field({
    type: Products,
    description: 'Newest first.',
    authScopes: { as: 'products.list' },
    args: pageArgs,
    complexity: costOfList(),
    resolve: (_, args, context) => {
      const list = productList(context.environment);
      return rootPage(context, { name: 'products', list, shown: shownProduct }, args);
    },
  }),
  plans: t.field({
    type: Plans,
    description: 'Newest first.',
    authScopes: { as: 'plans.list' },
    args: { ...pageArgs, status: t.arg({ type: PlanStatus }), productId: t.arg.id() },
    complexity: costOfList(),
    resolve: (_, args, context) => {
      const list = planList(context.environment, checkedQuery('plans.list', args as object));
      return rootPage(context, { name: 'plans', list, shown: shownPlan }, args);
    },
  }),
  plan: t.field({
    type: Plan,
    authScopes: { as: 'plans.retrieve' },
    args: { id: t.arg.id({ required: true, description: "The plan's id or key." }) },
    resolve: (_, { id }, context) => readAs(context, 'plans.retrieve', { params: { planId: id } }),
  }),
}));

builder.queryFields((t) => ({
  features: t.field({
    type: Features,
    description: 'Newest first.',
    authScopes: { as: 'features.list' },
    args: pageArgs,
    complexity: costOfList(),
    resolve: (_, args, context) => {
      const list = featureList(context.environment);
      return rootPage(context, { name: 'features', list, shown: shownFeature }, args);
    },
  }),
  feature: t.field({
    type: Feature,
    authScopes: { as: 'features.retrieve' },
    args: { key: t.arg.id({ required: true, description: "The feature's key or id." }) },
    resolve: (_, { key }, context) => readAs(context, 'features.retrieve', { params: { featureKey: key } }),
  }),
  addons: t.field({
    type: Addons,
    description: 'Newest first.',
    authScopes: { as: 'addons.list' },
    args: pageArgs,
    complexity: costOfList(),
    resolve: (_, args, context) => {
      const list = addonList(context.environment);
      return rootPage(context, { name: 'addons', list, shown: shownAddon }, args);
    },
  }),
  addon: t.field({
    type: Addon,
    authScopes: { as: 'addons.retrieve' },
    args: { id: t.arg.id({ required: true, description: "The add-on's id or key." }) },
    resolve: (_, { id }, context) => readAs(context, 'addons.retrieve', { params: { addonId: id } }),
  }),
}));

builder.queryFields((t) => ({
  meters: t.field({
    type: Meters,
    description: 'Newest first.',
    authScopes: { as: 'meters.list' },
    args: pageArgs,
    complexity: costOfList(),
    resolve: (_, args, context) => {
      const list = meterList(context.environment);
      return rootPage(context, { name: 'meters', list, shown: shownMeter }, args);
    },
  }),
  meter: t.field({
    type: Meter,
    authScopes: { as: 'meters.retrieve' },
    args: { key: t.arg.id({ required: true, description: "The meter's key or id." }) },
    resolve: (_, { key }, context) => readAs(context, 'meters.retrieve', { params: { meterId: key } }),
  }),
}));

const versionArg = builder.args((t) => ({
  version: t.int({ description: 'Of the plan. Default: the current version.' }),
}));

builder.objectFields(Plan, (t) => ({
  entitlements: t.field({
    type: [GivenEntitlement],
    description: 'By feature key.',
    authScopes: { as: 'plans.retrieveEntitlements' },
    args: versionArg,
    complexity: { field: 20, multiplier: 10 },
    resolve: async (plan, args, { loaders }) => {
      const place = requestedVersion(plan, checkedQuery('plans.retrieveEntitlements', args));
      return loaders.planEntitlements.load(place);
    },
  }),
  prices: t.field({
    type: [Price],
    authScopes: { as: 'plans.retrievePrices' },
    args: versionArg,
    complexity: { field: 20, multiplier: 10 },
    resolve: async (plan, args, { loaders }) => {
      const place = requestedVersion(plan, checkedQuery('plans.retrievePrices', args));
      return loaders.planPrices.load(place);
    },
  }),
}));

builder.objectFields(Addon, (t) => ({
  entitlements: t.field({
    type: [GivenEntitlement],
    description: 'By feature key.',
    authScopes: { as: 'addons.retrieveEntitlements' },
    complexity: { field: 100, multiplier: 10 },
    resolve: async ({ id: addonId }, _, context) =>
      (await readAs(context, 'addons.retrieveEntitlements', { params: { addonId } })).entitlements,
  }),
  prices: t.field({
    type: [Price],
    authScopes: { as: 'addons.retrievePrices' },
    complexity: { field: 100, multiplier: 10 },
    resolve: async ({ id: addonId }, _, context) =>
      (await readAs(context, 'addons.retrievePrices', { params: { addonId } })).prices,
  }),
}));

builder.objectField(GivenEntitlement, 'unlimited', (t) =>
  t.boolean({
    nullable: false,
    description: 'Then `value` is null.',
    resolve: ({ value }) => value === null,
  }),
);
