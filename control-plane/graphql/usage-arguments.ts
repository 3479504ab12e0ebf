import { Rejected } from '../../schemas/failures.ts';
import { enumOf } from './resource-fields.ts';
import { builder } from './schema-builder.ts';

/** A read of many events is as dear as this many objects. */
export const LONG_READ_COST = 500;

const Consistency = enumOf('Consistency', ['strong', 'eventual']);
const UsageOrder = enumOf('UsageOrder', ['time', 'total']);
const UsageFill = enumOf('UsageFill', ['none', 'zero']);

export const consistencyArg = builder.args((t) => ({
  consistency: t.field({
    type: Consistency,
    description:
      'By default the response waits up to 1 s for the usage acknowledged before the request. `strong` ' +
      'waits up to 5 s and fails after that; `eventual` does not wait.',
  }),
}));

export const spanArgs = builder.args((t) => ({
  from: t.string(),
  to: t.string({ description: 'Exclusive.' }),
}));

const PropertyFilter = builder.inputType('PropertyFilter', {
  description: 'Only events whose property has this value; the empty one selects those without it.',
  fields: (t) => ({ name: t.string({ required: true }), value: t.string({ required: true }) }),
});

/** What usage is read by, of a customer or of all. */
export const analysisArgs = builder.args((t) => ({
  timezone: t.string({ description: 'A name like `Europe/Berlin`. Default: UTC.' }),
  filter: t.field({ type: [PropertyFilter], description: 'Several must all apply.' }),
  quantiles: t.floatList({ description: 'Up to five numbers from 0 to 1, for `sum` meters.' }),
  order: t.field({ type: UsageOrder }),
  fill: t.field({ type: UsageFill, description: 'With `zero`, also buckets without usage.' }),
}));

interface Analysis {
  filter?: ReadonlyArray<{ name: string; value: string }> | null | undefined;
  quantiles?: readonly number[] | null | undefined;
}

/** As the operations of the REST API have them. Throws Rejected. */
export function analysisOf<Args extends Analysis>({ filter, quantiles, ...args }: Args) {
  return { ...args, filter: filter ? filtersOf(filter) : undefined, quantiles: quantiles?.join(',') };
}

/** By the name of the property, each of which is named once: no event has two values of one. */
function filtersOf(filter: NonNullable<Analysis['filter']>): Record<string, string> {
  const names = filter.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice === undefined) return Object.fromEntries(filter.map(({ name, value }) => [name, value]));
  const message = `\`filter\` names the property ${twice} twice. Send one value for each property.`;
  throw new Rejected('invalid_request', message, { param: 'filter' });
}
