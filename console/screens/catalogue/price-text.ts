import { amount, counted, money } from '../../design/figures.ts';
import type { Price } from './shapes.ts';

/** What a price costs, in lines for people. */
export function priceLines(price: Price): string[] {
  return [...modelLines(price), ...bounds(price)];
}

/** `every month`, `every 3 months`. */
export function periodText({ interval, intervalCount = 1 }: Price): string {
  return intervalCount === 1 ? `every ${interval}` : `every ${counted(intervalCount, interval)}`;
}

function modelLines(price: Price): string[] {
  const cost = (text: string) => money(text, price.currency);
  switch (price.model) {
    case 'flat':
      return [cost(price.amount)];
    case 'per_unit':
      return [`${cost(price.unitAmount)} for each unit of ${price.meterKey}`, ...included(price.included)];
    case 'seat':
      return [`${cost(price.unitAmount)} for each seat of ${price.featureKey}`];
    case 'package': {
      const text = `${cost(price.amount)} for each ${amount(price.size)} of ${price.meterKey}`;
      return [text, ...included(price.included)];
    }
    case 'percentage':
      return [percentageText(price)];
    default:
      return tierLines(price);
  }
}

function percentageText({ rate, fixed, meterKey, currency }: Extract<Price, { model: 'percentage' }>) {
  const plus = fixed === undefined ? '' : ` and ${money(fixed, currency)} for each event`;
  return `${amount(Number(rate) * 100)} % of ${meterKey}${plus}`;
}

function tierLines(price: Extract<Price, { model: 'graduated' | 'volume' }>): string[] {
  const whole = price.model === 'volume' ? 'all units at the tier of the last one' : 'each unit at its tier';
  const tiers = price.tiers.map(({ upTo, unitAmount, flatAmount }) => {
    const flat = flatAmount === undefined ? '' : ` and ${money(flatAmount, price.currency)} once`;
    const reach = upTo === null ? 'beyond' : `up to ${amount(upTo)}`;
    return `${reach}: ${money(unitAmount, price.currency)} each${flat}`;
  });
  return [`${price.meterKey}, ${whole}`, ...tiers];
}

function included(units: string | undefined): string[] {
  return units === undefined ? [] : [`${amount(units)} included in each period`];
}

function bounds({ minimum, maximum, currency }: Price): string[] {
  return [
    ...(minimum === undefined ? [] : [`at least ${money(minimum, currency)}`]),
    ...(maximum === undefined ? [] : [`at most ${money(maximum, currency)}`]),
  ];
}
