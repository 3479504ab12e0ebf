import { Defect } from '../../schemas/failures.ts';
import { smaller } from './credit-units.ts';

/** What paid for a meter's usage: a grant, or nothing yet. */
export const UNPAID = '';

/** What one customer's meters have burned, by the grant that paid it. In units of 10^-24, none of them 0. */
export type CreditUses = Map<string, Map<string, bigint>>;

export interface GrantAmount {
  grantId: string;
  units: bigint;
}

/**
 * Gives what was taken from grants, one after the other, and what nothing paid to the meters that burned it,
 * in their order.
 */
export function spread<Burn extends { units: bigint }>(
  burns: readonly Burn[],
  takings: readonly GrantAmount[],
): Array<{ burn: Burn; paid: GrantAmount[]; unpaid: bigint }> {
  const left = takings.map((one) => ({ ...one }));
  return burns.map((burn) => {
    let unpaid = burn.units;
    const paid: GrantAmount[] = [];
    for (const taking of left) {
      const units = smaller(taking.units, unpaid);
      if (units === 0n) continue;
      paid.push({ grantId: taking.grantId, units });
      taking.units -= units;
      unpaid -= units;
    }
    return { burn, paid, unpaid };
  });
}

/**
 * Gives back credits that usage of a meter had burned: first to what is unpaid, of whichever meter, then to
 * the grants that paid for this one, the last to be burned first. `uses` becomes what is left. Gives what
 * grants get, and by how much less is unpaid.
 */
export function giveBack(
  uses: CreditUses,
  { meterKey, units }: { meterKey: string; units: bigint },
  burnOrder: readonly string[],
): { grants: GrantAmount[]; unpaid: bigint } {
  // mutant: given-back-to-the-first-grant
  const backwards = [...burnOrder].reverse();
  // mutant: given-back-before-the-unpaid-rest
  const others = [...uses.keys()].filter((key) => key !== meterKey);
  let rest = units;
  rest -= take(uses, { meterKey, grantId: UNPAID, units: rest });
  // What others owe is paid by the credits that this one had burned.
  for (const other of others) {
    for (const grantId of backwards) {
      const owed = smaller(usedOf(uses, other, UNPAID), rest);
      const paid = take(uses, { meterKey, grantId, units: owed });
      take(uses, { meterKey: other, grantId: UNPAID, units: paid });
      put(uses, { meterKey: other, grantId, units: paid });
      rest -= paid;
    }
  }
  const unpaid = units - rest;
  const grants: GrantAmount[] = [];
  // Of another meter only where less is known of this one than it has burned.
  for (const from of [meterKey, ...others]) {
    for (const grantId of backwards) {
      const given = take(uses, { meterKey: from, grantId, units: rest });
      if (given > 0n) grants.push({ grantId, units: given });
      rest -= given;
    }
  }
  if (rest > 0n) throw new Defect('more credits are given back than were burned');
  return { grants, unpaid };
}

/** A grant pays what is unpaid. `uses` becomes what it is after it. Gives what changed. */
export function payUnpaid(uses: CreditUses, { grantId, units }: GrantAmount): void {
  let rest = units;
  for (const meterKey of [...uses.keys()].sort()) {
    const paid = take(uses, { meterKey, grantId: UNPAID, units: rest });
    put(uses, { meterKey, grantId, units: paid });
    rest -= paid;
  }
}

interface Amount extends GrantAmount {
  meterKey: string;
}

function usedOf(uses: CreditUses, meterKey: string, grantId: string): bigint {
  return uses.get(meterKey)?.get(grantId) ?? 0n;
}

/** As much of it as there is. */
function take(uses: CreditUses, { meterKey, grantId, units }: Amount): bigint {
  const used = usedOf(uses, meterKey, grantId);
  const taken = smaller(used, units);
  if (taken === 0n) return 0n;
  if (taken === used) uses.get(meterKey)?.delete(grantId);
  else uses.get(meterKey)?.set(grantId, used - taken);
  return taken;
}

export function put(uses: CreditUses, { meterKey, grantId, units }: Amount): void {
  if (units === 0n) return;
  const own = uses.get(meterKey) ?? new Map<string, bigint>();
  own.set(grantId, (own.get(grantId) ?? 0n) + units);
  uses.set(meterKey, own);
}
