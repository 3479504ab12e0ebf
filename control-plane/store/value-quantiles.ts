import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';

/** Of the values of events. */
export interface QuantilesSql {
  /** State over rows of `events`, as the column `spread`. */
  ofEvents: string;
  /** Decimal texts in the order of the levels, of such states. */
  merged: string;
}

/** By numbers from 0 to 1 that were checked: ClickHouse takes no parameters in this place. */
export function quantilesSql(levels: readonly number[]): QuantilesSql {
  if (levels.length === 0) return { ofEvents: '0 AS spread', merged: 'emptyArrayString()' };
  const list = levels.map(Number).join(', ');
  return {
    ofEvents: `quantilesExactState(${list})(value) AS spread`,
    merged: `arrayMap(one -> toString(one), quantilesExactMerge(${list})(spread))`,
  };
}

/** Canonical decimal texts. */
export function quantileTexts(merged: readonly string[]): string[] {
  return merged.map((text) => unitsText(decimalUnits(text)));
}
