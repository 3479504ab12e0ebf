import { randomBytes } from 'node:crypto';
import { Rejected } from '../../schemas/failures.ts';
import type { Mode } from '../../schemas/primitives/environment.ts';
import type { Handlers } from '../http/request-context.ts';
import type { ProcessorMetrics } from '../metrics.ts';
import { readSubscriptionEvent } from '../processor/subscription-event.ts';
import { takeEvent } from '../processor/take-event.ts';
import { isSignedBy } from '../processor/verify-signature.ts';
import { readWebhookSecret } from '../processor/webhook-secret.ts';

export function createProcessorWebhookHandlers({
  sealingKey,
  metrics,
}: {
  sealingKey: Buffer;
  metrics: ProcessorMetrics;
}): Pick<Handlers, 'processor.receiveEvent'> {
  return {
    'processor.receiveEvent': async (context, { params, bodyText: body }) => {
      const { db, environment, headers, nowMs } = context;
      const known = await readWebhookSecret(db, environment, sealingKey);
      // Without a secret a random one is used: the response time reveals nothing to the caller.
      const secret = known ?? randomBytes(32).toString('base64');
      const header = String(headers['stripe-signature'] ?? '');
      if (!(await isSignedBy({ body, header, secret, nowMs }))) throw badSignature();
      // Only an existing environment has a secret.
      const event = readSubscriptionEvent(body, { mode: params.mode as Mode, nowMs });
      if (event) metrics.took(await takeEvent(context, event));
      return { received: true };
    },
  };
}

/** The same message for every cause: a workspace, its mode, a secret, the signature or its time. */
function badSignature(): Rejected {
  return new Rejected(
    'signature_invalid',
    'The signature is missing, older than 5 minutes, or not made with the webhook secret of this URL.',
  );
}
