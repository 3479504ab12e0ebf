import { openWebhookSecret } from '../../domain/webhook-secrets.ts';
import type { EndpointRow } from '../store/endpoints.ts';

/** Where a delivery is sent, and what signs it. */
export interface Target {
  url: string;
  /** Newest first. None: they do not open, and nothing is sent unsigned. */
  secrets: string[];
  /** In a row. */
  failures: number;
  /** It is this of the endpoint as it was then. */
  updatedAt: Date;
}

/** Opens what is sealed. Secrets that were sealed under another key, or are damaged, are left out. */
export function targetOf(row: EndpointRow, sealingKey: Buffer): Target {
  const { environment, id: endpointId, url, secret, previousSecret, failures, updatedAt } = row;
  const sealed = previousSecret === null ? [secret] : [secret, previousSecret];
  const secrets = sealed.flatMap((one) => {
    try {
      return [openWebhookSecret(one, { environment, endpointId }, sealingKey)];
    } catch {
      return [];
    }
  });
  return { url, secrets, failures, updatedAt };
}
