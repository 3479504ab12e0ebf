import type { ComponentType } from 'preact';
import { CatalogueScreen } from '../screens/catalogue/catalogue-screen.tsx';
import { CustomersScreen } from '../screens/customers/customers-screen.tsx';
import { EventsScreen } from '../screens/events/events-screen.tsx';
import { HealthScreen } from '../screens/health/health-screen.tsx';
import { MetersScreen } from '../screens/meters/meters-screen.tsx';
import { OverviewScreen } from '../screens/overview/overview-screen.tsx';
import { WebhooksScreen } from '../screens/webhooks/webhooks-screen.tsx';

export interface ScreenRow {
  name: 'overview' | 'customers' | 'meters' | 'catalogue' | 'events' | 'webhooks' | 'health';
  title: string;
  /** `path` is what follows the name in the address. */
  Show: ComponentType<{ path: string[] }>;
}

export const SCREENS: readonly ScreenRow[] = [
  { name: 'overview', title: 'Overview', Show: OverviewScreen },
  { name: 'customers', title: 'Customers', Show: CustomersScreen },
  { name: 'meters', title: 'Meters', Show: MetersScreen },
  { name: 'catalogue', title: 'Catalogue', Show: CatalogueScreen },
  { name: 'events', title: 'Events', Show: EventsScreen },
  { name: 'webhooks', title: 'Webhooks', Show: WebhooksScreen },
  { name: 'health', title: 'Health', Show: HealthScreen },
];
