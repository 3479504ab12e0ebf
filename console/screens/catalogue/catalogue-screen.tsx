import { PlanListScreen } from './plan-list-screen.tsx';
import { PlanScreen } from './plan-screen.tsx';

export function CatalogueScreen({ path: [planId] }: { path: string[] }) {
  return planId === undefined ? <PlanListScreen /> : <PlanScreen planId={planId} />;
}
