import { seal, unseal } from './secrets.ts';

/** Whose signing secret it is: it opens for no other endpoint. */
export interface SecretOwner {
  environment: string;
  endpointId: string;
}

/** As the signing secret of an endpoint is stored. */
export function sealWebhookSecret(secret: string, owner: SecretOwner, sealingKey: Buffer): Buffer {
  return seal(Buffer.from(secret), sealingKey, contextOf(owner));
}

/** The inverse. Throws Poison `seal_broken`. */
export function openWebhookSecret(sealed: Buffer, owner: SecretOwner, sealingKey: Buffer): string {
  return unseal(sealed, sealingKey, contextOf(owner)).toString();
}

function contextOf({ environment, endpointId }: SecretOwner): string {
  return `${environment}/webhook-secret/${endpointId}`;
}
