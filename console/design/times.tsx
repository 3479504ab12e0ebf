const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** A time in the zone of the browser; hovering shows UTC. */
export function Time({ at, isDay = false }: { at: string | number; isDay?: boolean }) {
  const time = new Date(at);
  return (
    <time dateTime={time.toISOString()} title={utc(time)} class="number">
      {isDay ? DATE.format(time) : `${DATE.format(time)}, ${TIME.format(time)}`}
    </time>
  );
}

/** `2026-11-26 01:15:00 UTC`. */
export function utc(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

export function isPast(at: string): boolean {
  return Date.parse(at) <= Date.now();
}

/** How long ago, or how far away, with the time itself on hover. */
export function Ago({ at }: { at: string }) {
  const time = new Date(at);
  const awayMs = time.getTime() - Date.now();
  const [unit, lengthMs] = UNITS.find(([, ms]) => Math.abs(awayMs) >= ms) ?? UNITS[UNITS.length - 1] ?? [];
  const text = unit && lengthMs ? RELATIVE.format(Math.trunc(awayMs / lengthMs), unit) : '';
  return (
    <time dateTime={time.toISOString()} title={utc(time)} class="number">
      {text}
    </time>
  );
}
