import { unseal } from '../../domain/secrets.ts';
import type { Database } from '../http/request-context.ts';
import { findConnection } from '../store/processor-connections.ts';

/** The processor's signing secret for this environment; undefined if there is none, or no environment. */
export async function readWebhookSecret(
  db: Database,
  environment: string,
  sealingKey: Buffer,
): Promise<string | undefined> {
  const sealed = (await findConnection(db, environment))?.webhookSecret;
  return sealed ? unseal(sealed, sealingKey, webhookSecretContext(environment)).toString() : undefined;
}

/** The context that a secret is sealed for: it opens in no other environment and for no other use. */
export function webhookSecretContext(environment: string): string {
  return `${environment}/processor-webhook-secret`;
}
