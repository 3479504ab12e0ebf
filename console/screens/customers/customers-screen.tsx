import { CustomerListScreen } from './customer-list-screen.tsx';
import { CustomerScreen } from './customer-screen.tsx';

export function CustomersScreen({ path: [customerId] }: { path: string[] }) {
  return customerId === undefined ? <CustomerListScreen /> : <CustomerScreen customerId={customerId} />;
}
