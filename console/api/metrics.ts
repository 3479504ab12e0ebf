import { useEffect, useState } from 'preact/hooks';
import { useRead } from './reads.ts';

/** What an installation's metrics say now. */
export interface InstallationFigures {
  /** Undefined until two readings are there. */
  eventsPerSecond: number | undefined;
  uncountedSeconds: number | undefined;
  uncountedBytes: number | undefined;
  openCircuits: number | undefined;
  webhookBacklog: number | undefined;
}

interface Reading {
  atMs: number;
  created: number;
}

const EVERY_MS = 5_000;
const CREATED = 'metergate_usage_events_created_total';

/** `figures` is undefined where the caller may not see metrics; `error` then says why. */
export function useInstallation() {
  const read = useRead<string>({ method: 'GET', path: '/metrics' }, { everyMs: EVERY_MS });
  const [readings, setReadings] = useState<Reading[]>([]);
  const text = typeof read.data === 'string' ? read.data : undefined;
  useEffect(() => {
    const created = text === undefined ? undefined : sumOf(text, CREATED);
    if (created !== undefined) setReadings((last) => [...last.slice(-1), { atMs: Date.now(), created }]);
  }, [text]);
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

function rateOf([first, second]: readonly Reading[]): number | undefined {
  if (!first || !second || second.atMs <= first.atMs) return undefined;
  // A counter that fell belongs to a process that started again.
  return (Math.max(0, second.created - first.created) * 1_000) / (second.atMs - first.atMs);
}

/** Of all lines of that metric; undefined where there is none. */
function sumOf(text: string, name: string): number | undefined {
  const lines = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'gm'));
  const values = [...lines].map(([, value]) => Number(value));
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}
