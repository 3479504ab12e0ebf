import { smaller } from './credit-units.ts';

/** By what grants are burned one after the other. */
export interface OrderedGrant {
  id: string;
  /** The lower is first. */
  priority: number;
  expiresAt: Date | null;
  createdAt: Date;
}

/** A grant that has something left and has not expired. */
export interface BurnableGrant extends OrderedGrant {
  /** Units of 10^-24. */
  remaining: bigint;
}

export interface Taking {
  grantId: string;
  taken: bigint;
  /** What is left of the grant. */
  remaining: bigint;
}

/**
 * Burns units of credits: by priority, then what expires first, then the oldest. `rest` is what no grant
 * covers.
 */
export function takeCredits(
  grants: readonly BurnableGrant[],
  units: bigint,
): { takings: Taking[]; rest: bigint } {
  const takings: Taking[] = [];
  let rest = units;
  for (const { id, remaining } of [...grants].sort(byBurnOrder)) {
    if (rest === 0n) break;
    const taken = smaller(remaining, rest);
    takings.push({ grantId: id, taken, remaining: remaining - taken });
    rest -= taken;
  }
  return { takings, rest };
}

const NEVER = Number.POSITIVE_INFINITY;

export function byBurnOrder(a: OrderedGrant, b: OrderedGrant): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  const [aEnds, bEnds] = [a.expiresAt?.getTime() ?? NEVER, b.expiresAt?.getTime() ?? NEVER];
  if (aEnds !== bEnds) return aEnds < bEnds ? -1 : 1;
  const youngerBy = a.createdAt.getTime() - b.createdAt.getTime();
  if (youngerBy !== 0) return youngerBy;
  return a.id < b.id ? -1 : 1;
}
