interface Bounds {
  current: string;
  limit?: string;
  budget?: string;
}

export interface Bound {
  kind: 'limit' | 'budget';
  value: string;
}

/** What the share of a level is of: the limit or the budget, of which more is used. */
export function boundOf({ current, limit, budget }: Bounds): Bound {
  if (limit === undefined) return { kind: 'budget', value: budget ?? '0' };
  const isOfBudget = budget !== undefined && shareOf(current, budget) > shareOf(current, limit);
  return isOfBudget ? { kind: 'budget', value: budget } : { kind: 'limit', value: limit };
}

/** As the API has it: of 0 everything is used. */
function shareOf(current: string, bound: string): number {
  return Number(bound) === 0 ? 1 : Number(current) / Number(bound);
}
