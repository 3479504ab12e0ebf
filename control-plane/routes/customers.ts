import { Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/ids.ts';
import type { NewCustomer } from '../../schemas/resources/customers.ts';
import { timestampText } from '../../schemas/rules/timestamp.ts';
import type { Handlers } from '../request-context.ts';
import { insertCustomer } from '../store/insert-customer.ts';
import { notifyChange } from '../store/notify-change.ts';

export const customerHandlers: Pick<Handlers, 'customers.create'> = {
  'customers.create': async ({ db, environment }, { body }) => {
    const customer = { id: newId('cus'), ...knownFields(body) };
    const row = await insertCustomer(db, { ...customer, environment });
    if (!row) {
      throw new Rejected('already_exists', 'Another customer has this externalId.', { param: 'externalId' });
    }
    await notifyChange(db, { kind: 'customer', environment, id: customer.id });
    return { ...customer, status: row.status, createdAt: timestampText(row.createdAt.getTime()) };
  },
};

function knownFields({ name, email, externalId, metadata }: NewCustomer): NewCustomer {
  return {
    name,
    email,
    ...(externalId === undefined ? {} : { externalId }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
