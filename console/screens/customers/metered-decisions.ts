import { useRead } from '../../api/reads.ts';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import type { Customer, Decision, Feature } from './shapes.ts';

const FEATURES_READ = 100;

/** What is decided of the features of one meter. */
export interface MeteredDecisions {
  features: Feature[];
  decisions: Decision[];
}

/** By meter key; undefined until it is read. */
export type DecisionsOfMeter = (meterKey: string) => MeteredDecisions | undefined;

export function useMeteredDecisions(customer: Customer): DecisionsOfMeter {
  const listed = useOperation<'features.list'>(apiPath(['features'], { pageSize: FEATURES_READ }));
  const metered = listed.data?.data.filter(({ type }) => type === 'metered');
  const features = (metered ?? []).map(({ key }) => ({ featureKey: key }));
  const path = apiPath(['entitlements', 'check']);
  const { data } = useRead<Responded<'entitlements.checkMany'>>(
    features.length === 0 ? undefined : { method: 'POST', path, body: { customerId: customer.id, features } },
  );
  const decisions = metered?.length === 0 ? [] : data?.data;
  return (meterKey) => {
    if (!metered || !decisions) return undefined;
    const own = metered.filter((feature) => feature.meterKey === meterKey);
    const keys = new Set(own.map(({ key }) => key));
    return { features: own, decisions: decisions.filter(({ featureKey }) => keys.has(featureKey)) };
  };
}
