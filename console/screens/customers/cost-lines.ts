import type { Responded } from '../../api/wire.ts';
import { amount, counted, money } from '../../design/figures.ts';

export type CostLine = Responded<'cost.ofCustomer'>['lines'][number];

/** Nothing was used, and nothing is charged for it. */
export function isEmptyLine({ amount: cost, quantity }: Pick<CostLine, 'amount' | 'quantity'>): boolean {
  return Number(cost) === 0 && Number(quantity) === 0;
}

/** How a line comes to its amount, in sentences without a verb. */
export function explanationOf(line: CostLine): string[] {
  return [...usage(line), ...units(line), ...tiers(line), ...values(line), ...bounds(line)];
}

function usage({ used, included, meterKey, featureKey }: CostLine): string[] {
  if (used === undefined) return [];
  const of = meterKey ?? featureKey;
  return [`${amount(used)} of ${of}${included === undefined ? '' : `, ${amount(included)} included`}`];
}

function units({ unitAmount, rate, fixed, events, currency }: CostLine): string[] {
  return [
    ...(unitAmount === undefined ? [] : [`${money(unitAmount, currency)} each`]),
    ...(rate === undefined ? [] : [`${amount(Number(rate) * 100)} %`]),
    ...(fixed === undefined ? [] : [`${money(fixed, currency)} for each event`]),
    ...(events === undefined ? [] : [eventsText(events)]),
  ];
}

function eventsText({ charged, atMin, atMax }: NonNullable<CostLine['events']>): string {
  const bounded = [atMin > 0 ? `${atMin} at the minimum` : '', atMax > 0 ? `${atMax} at the maximum` : ''];
  return [`${counted(charged, 'event')} by their value`, ...bounded.filter(Boolean)].join(', ');
}

function tiers({ tiers = [], currency }: CostLine): string[] {
  return tiers.map(({ upTo, quantity, unitAmount, amount: cost }) => {
    const reach = upTo === null ? 'beyond' : `up to ${amount(upTo)}`;
    return `${reach}: ${amount(quantity)} × ${money(unitAmount, currency)} = ${money(cost, currency)}`;
  });
}

function values({ values = [], currency }: CostLine): string[] {
  return values.map(({ value = 'others', quantity, unitAmount }) => {
    return `${value}: ${amount(quantity)} at ${money(unitAmount, currency)}`;
  });
}

function bounds({ minimumAmount, maximumAmount, currency }: CostLine): string[] {
  return [
    ...(minimumAmount === undefined ? [] : [`${money(minimumAmount, currency)} by the minimum`]),
    ...(maximumAmount === undefined ? [] : [`${money(maximumAmount, currency)} by the maximum`]),
  ];
}
