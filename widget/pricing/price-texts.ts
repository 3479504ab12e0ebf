import type { Formats } from '../element/formats.ts';
import type { Fixed } from './choose-prices.ts';
import type { PricingLabels } from './labels.ts';
import type { OfferedPlan, OfferedPrice } from './offered-plan.ts';

export interface PriceContext {
  plan: OfferedPlan;
  formats: Formats;
  labels: PricingLabels;
}

/** An amount and what it is for, as in `€49` per `month`. */
export interface PriceText {
  amount: string;
  per: string;
  /** What it includes. */
  note?: string;
}

export function fixedText(fixed: Fixed, currency: string, { formats }: PriceContext): PriceText {
  return {
    amount: formats.money(fixed.amount, currency),
    per: formats.period(fixed.interval, fixed.intervalCount),
  };
}

/** Of one price in words; `description` of the catalogue replaces them in a list. */
export function priceText(price: OfferedPrice, context: PriceContext): PriceText {
  const { formats, labels } = context;
  const money = (amount: number) => formats.money(amount, price.currency);
  switch (price.model) {
    case 'flat':
      return { amount: money(price.amount), per: formats.period(price.interval, price.intervalCount ?? 1) };
    case 'seat':
      return { amount: money(price.unitAmount), per: featureName(context.plan, price.featureKey) };
    case 'per_unit':
      return {
        amount: money(price.unitAmount),
        per: unitOf(context.plan, price.meterKey),
        ...included(price),
      };
    case 'package': {
      const per = `${formats.number(price.size)} ${unitOf(context.plan, price.meterKey)}`;
      return { amount: money(price.amount), per, ...included(price) };
    }
    case 'percentage': {
      const fixed = price.fixed ? ` + ${money(price.fixed)}` : '';
      return { amount: `${formats.percent(price.rate)}${fixed}`, per: unitOf(context.plan, price.meterKey) };
    }
    default: {
      const least = Math.min(...price.tiers.map(({ unitAmount }) => unitAmount));
      return { amount: `${labels.from} ${money(least)}`, per: unitOf(context.plan, price.meterKey) };
    }
  }

  function included({ included: units }: { included?: number }): { note?: string } {
    return units ? { note: `${formats.number(units)} ${labels.included}` } : {};
  }
}

export function lineOf(price: OfferedPrice, context: PriceContext): string {
  if (price.description) return price.description;
  const { amount, per, note } = priceText(price, context);
  return [`${amount} / ${per}`, note].filter(Boolean).join(', ');
}

/** A metered feature often has the key of its meter; otherwise the key has to do. */
function unitOf({ entitlements }: OfferedPlan, meterKey: string): string {
  const unit = entitlements.find(({ featureKey }) => featureKey === meterKey)?.unit;
  return unit ?? meterKey.replace(/[_-]+/g, ' ');
}

function featureName({ entitlements }: OfferedPlan, key: string): string {
  return entitlements.find(({ featureKey }) => featureKey === key)?.featureName ?? key.replace(/[_-]+/g, ' ');
}
