import { creditUnits } from '../../domain/rules/credit-units.ts';
import { moneyText } from '../../domain/rules/rating/money.ts';
import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import { SIMULATION_KEPT_DAYS, type Simulation } from '../../schemas/resources/simulations.ts';
import {
  QUANTILES,
  type SimulatedCustomerRow,
  type SimulationRow,
  type StoredTotal,
} from '../store/simulations.ts';

const DAY_MS = 86_400_000;

export function shownSimulation(row: SimulationRow): Simulation {
  const { id, status, planId, startsAt, endsAt, customers, done, asOf, totals, createdAt, finishedAt } = row;
  const createdMs = createdAt.getTime();
  return {
    id,
    status,
    ...(planId === null ? {} : { planId }),
    from: timestampText(startsAt.getTime()),
    to: timestampText(endsAt.getTime()),
    progress: { customers, done },
    ...(totals === null ? {} : { totals: totals.map(shownTotal) }),
    ...(asOf === null ? {} : { asOf: timestampText(asOf.getTime()) }),
    createdAt: timestampText(createdMs),
    ...(finishedAt === null ? {} : { finishedAt: timestampText(finishedAt.getTime()) }),
    expiresAt: timestampText(createdMs + SIMULATION_KEPT_DAYS * DAY_MS),
  };
}

export function shownSimulated({ customerId, totals, beyond }: SimulatedCustomerRow) {
  return {
    customerId,
    totals: totals.map(compared),
    passedLimits: beyond.map(({ featureKey, limit, soft, used, fromMs, toMs }) => ({
      featureKey,
      limit: exactNumber(limit),
      soft,
      used: exactNumber(used),
      from: timestampText(fromMs),
      to: timestampText(toMs),
    })),
  };
}

function shownTotal({ customers, differences, ...total }: StoredTotal) {
  return {
    ...compared(total),
    customers,
    quantiles: QUANTILES.map((share, at) => ({ share, difference: money(differences[at] ?? '0') })),
  };
}

function compared({ currency, current, simulated }: SimulatedCustomerRow['totals'][number]) {
  const difference = moneyText(creditUnits(simulated) - creditUnits(current));
  return {
    currency,
    current: money(current),
    simulated: money(simulated),
    difference: exactNumber(difference),
  };
}

/** As Postgres sums it: with zeros at the end. */
function money(text: string) {
  return exactNumber(moneyText(creditUnits(text)));
}
