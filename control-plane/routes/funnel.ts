import { Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampMs, timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Funnel } from '../../schemas/resources/funnel.ts';
import type { Handlers } from '../http/request-context.ts';
import { countFunnelSessions, type FunnelSessions, insertFunnelEvent } from '../store/funnel-events.ts';

export const funnelHandlers: Pick<Handlers, 'funnel.record' | 'funnel.retrieve'> = {
  'funnel.record': async ({ db, environment, nowMs }, { body }) => {
    const { event, sessionId, planId = null } = body;
    const id = newId('fun');
    await insertFunnelEvent(db, environment, { id, event, sessionId, planId, createdAt: new Date(nowMs) });
    return { id };
  },

  'funnel.retrieve': async ({ db, environment, nowMs }, { query }) => {
    const { fromMs, toMs } = spanOf(query, nowMs);
    const span = { from: new Date(fromMs), to: new Date(toMs), planId: query.planId ?? null };
    const sessions = await countFunnelSessions(db, environment, span);
    return { from: timestampText(fromMs), to: timestampText(toMs), stages: stagesOf(sessions) };
  },
};

const DEFAULT_SPAN_MS = 30 * 86_400_000;

function spanOf(
  { from, to }: { from?: string; to?: string },
  nowMs: number,
): { fromMs: number; toMs: number } {
  const toMs = (to === undefined ? undefined : timestampMs(to)) ?? nowMs;
  const fromMs = (from === undefined ? undefined : timestampMs(from)) ?? toMs - DEFAULT_SPAN_MS;
  if (fromMs < toMs) return { fromMs, toMs };
  const param = to === undefined ? 'from' : 'to';
  throw new Rejected('invalid_request', '`to` (default: now) must be later than `from`.', { param });
}

function stagesOf({ viewed, started, activated }: FunnelSessions): Funnel['stages'] {
  const rate = (sessions: number) => (viewed === 0 ? 0 : sessions / viewed);
  return [
    { stage: 'widget_view', sessions: viewed, rate: rate(viewed) },
    { stage: 'checkout_started', sessions: started, rate: rate(started) },
    { stage: 'activated', sessions: activated, rate: rate(activated) },
  ];
}
