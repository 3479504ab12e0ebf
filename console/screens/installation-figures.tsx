import { useInstallation } from '../api/metrics.ts';
import { short } from '../design/figures.ts';
import { Figure, Notice } from '../design/pieces.tsx';

/** What the whole installation does now, of all workspaces. */
export function InstallationFigures() {
  const { figures, error } = useInstallation();
  if (error) return <Notice>The figures of this installation are not shown here: {error.message}</Notice>;
  const shown = (value: number | undefined, unit = '') =>
    value === undefined ? '…' : `${short(value)}${unit}`;
  return (
    <dl class="figures">
      <Figure
        name="Events per second"
        value={shown(figures?.eventsPerSecond)}
        note="accepted, of the last 10 to 30 s"
      />
      <Figure
        name="Counting lag"
        value={shown(figures?.uncountedSeconds, ' s')}
        note="oldest event waiting"
      />
      <Figure name="Webhook backlog" value={shown(figures?.webhookBacklog)} note="deliveries pending" />
      <Figure
        name="Open circuits"
        value={shown(figures?.openCircuits)}
        note="paused endpoints, of all workspaces"
      />
    </dl>
  );
}
