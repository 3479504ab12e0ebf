import { useEffect, useState } from 'preact/hooks';
import { type Reading, rateOf, withReading } from './event-rate.ts';
import { useRead } from './reads.ts';

/** What an installation's metrics say now. */
export interface InstallationFigures {
  /** Of the last 10 to 30 s; undefined until so much was watched. */
  eventsPerSecond: number | undefined;
  uncountedSeconds: number | undefined;
  uncountedBytes: number | undefined;
  openCircuits: number | undefined;
  webhookBacklog: number | undefined;
}

const EVERY_MS = 5_000;
const CREATED = 'metergate_usage_events_created_total';

/** `figures` is undefined where the caller may not see metrics; `error` then says why. */
export function useInstallation() {
  const read = useRead<string>({ method: 'GET', path: '/metrics' }, { everyMs: EVERY_MS });
  const [readings, setReadings] = useState<Reading[]>([]);
  const text = typeof read.data === 'string' ? read.data : undefined;
  const { receivedAtMs: atMs } = read;
  useEffect(() => {
    const created = text === undefined ? undefined : sumOf(text, CREATED);
    if (created !== undefined && atMs !== undefined) {
      setReadings((last) => withReading(last, { atMs, created }));
    }
  }, [text, atMs]);
  const figures: InstallationFigures | undefined = text === undefined ? undefined : figuresOf(text, readings);
  return { figures, error: read.error };
}

function figuresOf(text: string, readings: readonly Reading[]): InstallationFigures {
  return {
    eventsPerSecond: rateOf(readings),
    uncountedSeconds: sumOf(text, 'metergate_uncounted_seconds'),
    uncountedBytes: sumOf(text, 'metergate_uncounted_bytes'),
    openCircuits: sumOf(text, 'metergate_webhook_circuits_open'),
    webhookBacklog: sumOf(text, 'metergate_webhook_backlog'),
  };
}

/** Of all lines of that metric; undefined where there is none. */
function sumOf(text: string, name: string): number | undefined {
  const lines = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'gm'));
  const values = [...lines].map(([, value]) => Number(value));
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}
