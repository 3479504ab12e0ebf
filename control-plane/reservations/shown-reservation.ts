import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { type ExactNumber, exactJson, exactNumber, parseExact } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { NewReservation, Reservation, ReservationStatus } from '../../schemas/resources/reservations.ts';
import type { ReservationRow } from '../store/reservations.ts';

type Shown = Pick<ReservationRow, 'status' | 'expiresAt' | 'onExpiry' | 'late'>;

/**
 * As of now: one past its expiry is expired, also before that is recorded. While its event is written, it is
 * what it was before.
 */
function shownStatus({ status, expiresAt, onExpiry, late }: Shown, now: Date): ReservationStatus {
  if (status === 'committing') return late ? 'expired' : 'held';
  return status === 'held' && onExpiry === 'release' && expiresAt <= now ? 'expired' : status;
}

export function shownReservation(row: ReservationRow, now: Date): Reservation {
  const status = shownStatus(row, now);
  const endedAt = status === 'expired' ? row.expiresAt : row.endedAt;
  const properties = row.properties === null ? undefined : parseExact(row.properties);
  return {
    id: row.id,
    customerId: row.customerId,
    featureKey: row.featureKey,
    meterId: row.meterKey,
    amount: shownDecimal(row.amount),
    status,
    onExpiry: row.onExpiry,
    ...(properties === undefined
      ? {}
      : { properties: properties as NonNullable<NewReservation['properties']> }),
    createdAt: timestampText(row.createdAt.getTime()),
    expiresAt: timestampText(row.expiresAt.getTime()),
    ...(endedAt === null ? {} : { endedAt: timestampText(endedAt.getTime()) }),
    ...(row.event === null ? {} : shownCommit(row, row.event)),
  };
}

function shownCommit({ late }: Pick<ReservationRow, 'late'>, event: string) {
  const { id, value } = parseExact(event) as { id: string; value: ExactNumber };
  return { value, eventId: id, ...(late ? { late } : {}) };
}

/** The response of a commit: the same for as long as the reservation is kept. */
export function committedBody(row: ReservationRow, now: Date): { status: number; body: string } {
  return {
    status: 200,
    body: exactJson({ ...shownReservation(row, now), event: parseExact(row.event ?? '') }),
  };
}

/** The response of consuming. */
export function consumedBody({ event, decision }: ReservationRow): { status: number; body: string } {
  return { status: 201, body: `{"event":${event},"decision":${decision}}` };
}

function shownDecimal(text: string): ExactNumber {
  return exactNumber(unitsText(decimalUnits(text)));
}
