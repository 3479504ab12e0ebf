import { Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/ids.ts';
import type { NewCustomer } from '../../schemas/resources/customers.ts';
import { exactNumber, numberText, parseExact } from '../../schemas/rules/exact-json.ts';
import { timestampText } from '../../schemas/rules/timestamp.ts';
import { readDecimal } from '../read-decimal.ts';
import type { Handlers } from '../request-context.ts';
import { insertCustomer } from '../store/insert-customer.ts';
import { notifyChange } from '../store/notify-change.ts';

export const customerHandlers: Pick<Handlers, 'customers.create'> = {
  'customers.create': async ({ db, environment }, { body, bodyText }) => {
    const customer = { id: newId('cus'), ...knownFields(body), ...metadataOf(bodyText) };
    const row = await insertCustomer(db, { ...customer, environment });
    if (!row) {
      throw new Rejected('already_exists', 'Another customer has this externalId.', { param: 'externalId' });
    }
    await notifyChange(db, { kind: 'customer', environment, id: customer.id });
    return { ...customer, status: row.status, createdAt: timestampText(row.createdAt.getTime()) };
  },
};

function knownFields({ name, email, externalId }: NewCustomer): NewCustomer {
  return { name, email, ...(externalId === undefined ? {} : { externalId }) };
}

/** From the body's own text: a double would round 123456789.000000000001 and make 1e400 infinite. */
function metadataOf(bodyText: string): Pick<NewCustomer, 'metadata'> {
  const { metadata } = parseExact(bodyText) as Partial<NewCustomer>;
  if (metadata === undefined) return {};
  const entries = Object.entries(metadata).map(([name, value]) => {
    const isNumber = numberText(value) !== undefined;
    return [name, isNumber ? exactNumber(readDecimal(value, `metadata.${name}`)) : value];
  });
  return { metadata: Object.fromEntries(entries) };
}
