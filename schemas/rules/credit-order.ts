import { smaller } from './credit-units.ts';

/** A grant that has something left and has not expired. */
export interface BurnableGrant {
  id: string;
  /** The lower goes first. */
  priority: number;
  expiresAt: Date | null;
  createdAt: Date;
  /** Units of 10^-24. */
  remaining: bigint;
}

export interface Taking {
  grantId: string;
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
    takings.push({ grantId: id, remaining: remaining - taken });
    rest -= taken;
  }
  return { takings, rest };
}

const NEVER = Number.POSITIVE_INFINITY;

function byBurnOrder(a: BurnableGrant, b: BurnableGrant): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  const [aEnds, bEnds] = [a.expiresAt?.getTime() ?? NEVER, b.expiresAt?.getTime() ?? NEVER];
  if (aEnds !== bEnds) return aEnds < bEnds ? -1 : 1;
  const youngerBy = a.createdAt.getTime() - b.createdAt.getTime();
  if (youngerBy !== 0) return youngerBy;
  return a.id < b.id ? -1 : 1;
}
