import { EVENT_TYPES, envelopeName, envelopeSchema } from '../../schemas/events.ts';
import * as addons from '../../schemas/resources/addons.ts';
import * as apiKeys from '../../schemas/resources/api-keys.ts';
import * as auditLog from '../../schemas/resources/audit-log.ts';
import * as budgets from '../../schemas/resources/budgets.ts';
import * as cloudEvents from '../../schemas/resources/cloud-events.ts';
import * as cost from '../../schemas/resources/cost.ts';
import * as credits from '../../schemas/resources/credits.ts';
import * as customerTokens from '../../schemas/resources/customer-tokens.ts';
import * as customers from '../../schemas/resources/customers.ts';
import * as entitlementValues from '../../schemas/resources/entitlement-values.ts';
import * as entitlements from '../../schemas/resources/entitlements.ts';
import * as features from '../../schemas/resources/features.ts';
import { pageOf } from '../../schemas/resources/fields.ts';
import * as funnel from '../../schemas/resources/funnel.ts';
import * as graphql from '../../schemas/resources/graphql.ts';
import * as integrations from '../../schemas/resources/integrations.ts';
import * as meterUsage from '../../schemas/resources/meter-usage.ts';
import * as meters from '../../schemas/resources/meters.ts';
import * as overrides from '../../schemas/resources/overrides.ts';
import * as plans from '../../schemas/resources/plans.ts';
import * as prices from '../../schemas/resources/prices.ts';
import * as pricing from '../../schemas/resources/pricing.ts';
import * as products from '../../schemas/resources/products.ts';
import * as recurringGrants from '../../schemas/resources/recurring-grants.ts';
import * as reservations from '../../schemas/resources/reservations.ts';
import * as service from '../../schemas/resources/service.ts';
import * as simulations from '../../schemas/resources/simulations.ts';
import * as subscriptions from '../../schemas/resources/subscriptions.ts';
import * as usage from '../../schemas/resources/usage.ts';
import * as usageCorrections from '../../schemas/resources/usage-corrections.ts';
import * as usageEvents from '../../schemas/resources/usage-events.ts';
import * as usageLevels from '../../schemas/resources/usage-levels.ts';
import * as webhookDeliveries from '../../schemas/resources/webhook-deliveries.ts';
import * as webhooks from '../../schemas/resources/webhooks.ts';
import * as workspace from '../../schemas/resources/workspace.ts';

/** A schema that these export has the same name in the description, and in clients generated from it. */
const RESOURCES: object[] = [
  addons,
  apiKeys,
  auditLog,
  budgets,
  cloudEvents,
  cost,
  credits,
  customerTokens,
  customers,
  entitlementValues,
  entitlements,
  features,
  funnel,
  graphql,
  integrations,
  meters,
  meterUsage,
  overrides,
  plans,
  prices,
  pricing,
  products,
  recurringGrants,
  reservations,
  service,
  simulations,
  subscriptions,
  usage,
  usageCorrections,
  usageEvents,
  usageLevels,
  webhookDeliveries,
  webhooks,
  workspace,
];

/** The schema with references in place of every named one within. */
export function withReferences(schema: unknown): unknown {
  return referring(plain(schema));
}

/** The schemas that `text` (JSON) refers to, and those that they refer to. */
export function schemasReferredTo(text: string): Record<string, unknown> {
  const found = new Map<string, unknown>();
  const look = (json: string): void => {
    for (const [, name = ''] of json.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const schema = SCHEMAS.get(name);
      if (found.has(name) || schema === undefined) continue;
      found.set(name, schema);
      look(JSON.stringify(schema));
    }
  };
  look(text);
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Every named schema as JSON: the exports of resources, pages of them, and the envelopes of events. */
export const NAMED_SCHEMAS: ReadonlyArray<readonly [name: string, json: string]> = [
  ...RESOURCES.flatMap((exported) => Object.entries(exported))
    .filter(([, value]) => hasName(value))
    .flatMap(([name, schema]) => [
      [name, schema],
      [`${name}Page`, pageOf(schema)],
    ]),
  ...EVENT_TYPES.map((type) => [envelopeName(type), envelopeSchema(type)]),
].map(([name, schema]) => [name, JSON.stringify(plain(schema))]);

/** Names by the JSON of the schema: TypeBox copies the objects that it is given. */
const NAMES = new Map(NAMED_SCHEMAS.map(([name, json]) => [json, name]));

const SCHEMAS = new Map(NAMED_SCHEMAS.map(([name, json]) => [name, insideReferring(JSON.parse(json))]));

/** Objects with members, unions and arrays of those, and text that holds one of them. */
function hasName(value: unknown): boolean {
  const { type, properties = {}, items, contentSchema, oneOf } = (value ?? {}) as Record<string, unknown>;
  if (oneOf !== undefined) return true;
  if (type === 'array') return hasName(items);
  if (type === 'string') return contentSchema !== undefined;
  return type === 'object' && Object.keys(properties as object).length > 0;
}

function referring(schema: unknown): unknown {
  const name = NAMES.get(JSON.stringify(schema));
  return name === undefined ? insideReferring(schema) : { $ref: `#/components/schemas/${name}` };
}

function insideReferring(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(referring);
  if (typeof schema !== 'object' || schema === null) return schema;
  const referred = Object.entries(schema).map(([name, inner]) => [name, referring(inner)] as const);
  return withMapping(schema as Union, Object.fromEntries(referred));
}

interface Union {
  discriminator?: { propertyName: string };
  oneOf?: Array<{ properties: Record<string, { const: string }> }>;
}

/** Of a union the schema for each value of its discriminator, which is not the schema's name. */
function withMapping({ discriminator, oneOf = [] }: Union, referred: Record<string, unknown>): unknown {
  if (!discriminator) return referred;
  const { propertyName } = discriminator;
  const branches = referred.oneOf as Array<{ $ref: string }>;
  const mapping = oneOf.map(({ properties }, at) => [properties[propertyName]?.const, branches[at]?.$ref]);
  return { ...referred, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } };
}

/** As JSON. A field with a default is optional here; the check fills it in first and then requires it. */
function plain(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema), (_, value) => {
    const { properties, required } = (value ?? {}) as {
      properties?: Record<string, object>;
      required?: unknown;
    };
    if (!properties || !Array.isArray(required)) return value;
    const needed = required.filter((name) => !('default' in (properties[name] ?? {})));
    // An undefined member is left out.
    return { ...value, required: needed.length > 0 ? needed : undefined };
  });
}
