import { words } from '../design/figures.ts';
import { Badge, type Tone } from '../design/pieces.tsx';

/** The tone of each status that an object of the API has. */
const TONES: Record<string, Tone> = {
  active: 'good',
  published: 'good',
  succeeded: 'good',
  enabled: 'good',
  trialing: 'accent',
  pending: 'accent',
  draft: 'accent',
  past_due: 'warn',
  incomplete: 'warn',
  held: 'warn',
  paused: 'warn',
  unpaid: 'bad',
  failed: 'bad',
  disabled: 'bad',
};

export function StatusBadge({ status }: { status: string }) {
  return <Badge tone={TONES[status] ?? 'plain'}>{words(status)}</Badge>;
}
