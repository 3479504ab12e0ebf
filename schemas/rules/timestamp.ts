/**
 * RFC 3339 with any offset, as milliseconds since 1970; undefined for any other text. Digits beyond milliseconds
 * are cut off. Date.parse alone takes far more, and turns 30 February into March.
 */
export function timestampMs(text: string): number | undefined {
  const match = RFC_3339.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHours, offsetMinutes] = match;
  const date = new Date(`${year}-${month}-${day}T00:00:00.000Z`);
  const isInCalendar = date.getUTCDate() === Number(day) && date.getUTCMonth() === Number(month) - 1;
  if (!isInCalendar || !isTime(hour, minute) || Number(second) > 59) return undefined;
  if (sign !== undefined && !isTime(offsetHours, offsetMinutes)) return undefined;
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0));
  const minutes = Number(hour) * 60 + Number(minute) - offset;
  return (
    date.getTime() + (minutes * 60 + Number(second)) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
  );
}

/** ISO 8601 UTC with milliseconds: how every timestamp leaves. */
export function timestampText(ms: number): string {
  return new Date(ms).toISOString();
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,20}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

function isTime(hour: string | undefined, minute: string | undefined): boolean {
  return Number(hour) <= 23 && Number(minute) <= 59;
}
