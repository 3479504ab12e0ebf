import { apiUrl } from '../element/server.ts';

export interface Funnel {
  /** Anonymous: random, of this mount alone, kept nowhere. */
  sessionId: string;
  /** Reports that the element was seen; once. */
  viewed(): void;
  started(planId: string): void;
}

interface Recipient {
  api: string | null;
  key: string;
}

/** `recipient` is asked for with each report: attributes may change. */
export function createFunnel(recipient: () => Recipient): Funnel {
  const sessionId = randomId();
  let isViewed = false;

  function send(report: { event: string; planId?: string }): void {
    const { api, key } = recipient();
    // With a customer token alone: reports need a publishable key.
    if (key === '') return;
    const url = apiUrl(api, `/events/funnel?key=${encodeURIComponent(key)}`);
    const body = JSON.stringify({ ...report, sessionId });
    // False: the browser has too many beacons waiting.
    if (navigator.sendBeacon(url, body)) return;
    fetch(url, { method: 'POST', body, keepalive: true, credentials: 'omit' }).catch(() => undefined);
  }

  return {
    sessionId,
    viewed() {
      if (isViewed) return;
      isViewed = true;
      send({ event: 'widget_view' });
    },
    started: (planId) => send({ event: 'checkout_started', planId }),
  };
}

/** 128 bits. Not `randomUUID`, which pages without TLS do not have. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `mount-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
