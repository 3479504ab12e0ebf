import { AuditCard } from '../audit-card.tsx';
import type { Customer } from './shapes.ts';

export function AuditTab({ customer }: { customer: Customer }) {
  return <AuditCard title={`Changes of ${customer.name}`} customerId={customer.id} />;
}
