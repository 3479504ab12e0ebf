import { signCustomerToken } from '../../domain/rules/customer-token.ts';
import { Rejected } from '../../schemas/failures.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Handlers } from '../http/request-context.ts';
import { findTokenCustomer } from '../store/token-customer.ts';
import { customerNotFound } from '../usage/customer-meter.ts';

/** `customerTokenKey` signs the tokens. */
export function createCustomerTokenHandlers({
  customerTokenKey,
}: {
  customerTokenKey: Buffer;
}): Pick<Handlers, 'customerTokens.create'> {
  return {
    'customerTokens.create': async ({ db, environment, actor: keyId, nowMs }, { body }) => {
      const customer = await findTokenCustomer(db, environment, body.customerId);
      if (!customer) throw customerNotFound(body.customerId);
      if (customer.status === 'archived') {
        const message = `The customer ${customer.id} is archived: its tokens are not accepted.`;
        throw new Rejected('customer_archived', message, { param: 'customerId' });
      }
      const { id: customerId } = customer;
      const expiresAtMs = nowMs + body.expiresInSeconds * 1_000;
      const token = signCustomerToken({ environment, customerId, keyId, expiresAtMs }, customerTokenKey);
      return { token, expiresAt: timestampText(expiresAtMs), customerId };
    },
  };
}
