import { periodText, priceLines } from './price-text.ts';
import type { Price } from './shapes.ts';

/** Each price as one text, by its key: two sets of prices differ where these do. */
export function priceTexts(prices: readonly unknown[]): Map<string, string> {
  return new Map(
    prices.map((price, at) => {
      const { key = `number ${at + 1}` } = Object(price) as { key?: string };
      return [`price ${key}`, textOf(price)] as const;
    }),
  );
}

/** Prices that a reader wrote, with the digits as written; undefined of what is no list of prices. */
export function writtenPrices(json: string): unknown[] | undefined {
  const read = JSON.parse(json, withDigits) as { prices?: unknown } | null;
  return Array.isArray(read?.prices) ? read.prices : undefined;
}

/**
 * A number of a price is text, as in a response; what counts periods stays a number. A browser without the
 * source of a number may show another form of very small ones.
 */
function withDigits(name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || name === 'intervalCount') return value;
  return context?.source ?? String(value);
}

const SHOWN = new Set(
  (
    'key currency interval intervalCount model amount unitAmount meterKey featureKey included size rate fixed ' +
    'tiers minimum maximum'
  ).split(' '),
);

function textOf(price: unknown): string {
  try {
    const known = price as Price;
    return [`${periodText(known)}: ${priceLines(known).join('; ')}`, ...furtherTexts(known)].join('; ');
  } catch {
    // The service says what is wrong with it.
    return JSON.stringify(price);
  }
}

function furtherTexts(price: Price): string[] {
  const further = Object.entries(price).filter(([name]) => !SHOWN.has(name));
  return further.map(([name, value]) => `${name} ${JSON.stringify(value)}`);
}
