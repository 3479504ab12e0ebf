import { decimalUnits } from '../../../schemas/primitives/decimal.ts';
import { type Charge, chargeable } from './charge.ts';
import type { SeatPrice } from './price.ts';

/** Charged in full as soon as the period begins, for the seats that the customer has. */
export function chargeSeats({ unitAmount }: SeatPrice, seats: bigint): Charge {
  const quantity = chargeable(seats);
  return { quantity, amount: quantity * decimalUnits(unitAmount) };
}
