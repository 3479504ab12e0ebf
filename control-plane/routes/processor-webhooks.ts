import { randomBytes } from 'node:crypto';
import { Rejected } from '../../schemas/failures.ts';
import { followProcessor } from '../processor/follow-processor.ts';
import { readSubscriptionEvent } from '../processor/subscription-event.ts';
import { isSignedBy } from '../processor/verify-signature.ts';
import { readWebhookSecret } from '../processor/webhook-secret.ts';
import type { Handlers } from '../request-context.ts';

export function createProcessorWebhookHandlers({
  sealingKey,
}: {
  sealingKey: Buffer;
}): Pick<Handlers, 'processor.receiveEvent'> {
  return {
    'processor.receiveEvent': async (context, { bodyText: body }) => {
      const { db, environment, headers, nowMs } = context;
      const known = await readWebhookSecret(db, environment, sealingKey);
      // Where there is none one is made up: whoever asks learns nothing from how long the answer takes.
      const secret = known ?? randomBytes(32).toString('base64');
      const header = String(headers['stripe-signature'] ?? '');
      if (!(await isSignedBy({ body, header, secret, nowMs }))) throw badSignature();
      const event = readSubscriptionEvent(body, nowMs);
      if (event) await followProcessor(context, event);
      return { received: true };
    },
  };
}

/** In the same words whatever is wrong: a workspace, its mode, a secret, the signature or its time. */
function badSignature(): Rejected {
  return new Rejected(
    'signature_invalid',
    'This is not signed, within the last 5 minutes, with the webhook secret that is set for this address.',
  );
}
