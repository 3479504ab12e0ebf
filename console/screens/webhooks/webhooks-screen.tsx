import { EndpointScreen } from './endpoint-screen.tsx';
import { EndpointsScreen } from './endpoints-screen.tsx';

export function WebhooksScreen({ path: [endpointId] }: { path: string[] }) {
  return endpointId === undefined ? <EndpointsScreen /> : <EndpointScreen endpointId={endpointId} />;
}
