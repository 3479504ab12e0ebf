import { createHmac, randomUUID } from 'node:crypto';

/** An event of the payment processor about a subscription that is not linked, with its signature. */
export function signedEvent({ marker, secret, isLive }: { marker: string; secret: string; isLive: boolean }) {
  const id = `evt_${randomUUID()}`;
  const seconds = Math.floor(Date.now() / 1000);
  const object = { id: `sub_${marker}`, status: 'active', customer: `cus_${marker}` };
  const body = JSON.stringify({
    id,
    type: 'customer.subscription.updated',
    created: seconds,
    livemode: isLive,
    data: { object },
  });
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return { id, body, headers: { 'stripe-signature': `t=${seconds},v1=${signature}` } };
}
