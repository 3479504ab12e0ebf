import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { exactNumber, parseExact } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { NewReservation, Reservation } from '../../schemas/resources/reservations.ts';
import type { ReservationRow } from '../store/reservations.ts';

/** As of now: one past its expiry is expired, also before that is recorded. */
export function shownReservation(row: ReservationRow, now: Date): Reservation {
  const isOver = row.status === 'held' && row.expiresAt <= now;
  const endedAt = isOver ? row.expiresAt : row.endedAt;
  const properties = row.properties === null ? undefined : parseExact(row.properties);
  return {
    id: row.id,
    customerId: row.customerId,
    featureKey: row.featureKey,
    meterId: row.meterKey,
    amount: exactNumber(unitsText(decimalUnits(row.amount))),
    status: isOver ? 'expired' : row.status,
    onExpiry: 'release',
    ...(properties === undefined
      ? {}
      : { properties: properties as NonNullable<NewReservation['properties']> }),
    createdAt: timestampText(row.createdAt.getTime()),
    expiresAt: timestampText(row.expiresAt.getTime()),
    ...(endedAt === null ? {} : { endedAt: timestampText(endedAt.getTime()) }),
  };
}
