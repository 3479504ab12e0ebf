import { Defect } from '../../schemas/failures.ts';
import type { Entitlement, EntitlementChecks } from '../../schemas/resources/entitlements.ts';
import { shownEffectiveValue } from '../../schemas/rules/decide-entitlement.ts';
import { exactNumber, parseExact } from '../../schemas/rules/exact-json.ts';
import { createCheckEntitlements, type EntitlementDeps } from '../entitlements/check-entitlements.ts';
import { type ListedEntitlement, listEntitlements } from '../entitlements/list-entitlements.ts';
import { readDecimal } from '../read-decimal.ts';
import type { Handlers } from '../request-context.ts';
import { customerNotFound } from '../usage/pair.ts';

type EntitlementHandlers = Pick<Handlers, Extract<keyof Handlers, `entitlements.${string}`>>;

export function createEntitlementHandlers(deps: EntitlementDeps): EntitlementHandlers {
  const checkEntitlements = createCheckEntitlements(deps);

  return {
    'entitlements.list': async (context, { params }) => {
      const held = await listEntitlements(context, deps.holdingReads, params.customerId);
      if (!held) throw customerNotFound(params.customerId);
      return held.map(shown);
    },

    'entitlements.check': async (context, { params, query }) => {
      const { customerId: customer, featureKey } = params;
      const requested =
        query.requested === undefined ? undefined : readDecimal(exactNumber(query.requested), 'requested');
      const { consistency } = query;
      const [decision] = await checkEntitlements(context, {
        customer,
        features: [{ featureKey, requested }],
        consistency,
      });
      if (!decision) throw new Defect('a question was not answered');
      return decision;
    },

    'entitlements.checkMany': async (context, { query, bodyText }) => {
      const { customerId: customer, features } = parseExact(bodyText) as EntitlementChecks;
      const asked = features.map(({ featureKey, requested }, at) => ({
        featureKey,
        requested: requested === undefined ? undefined : readDecimal(requested, `features.${at}.requested`),
      }));
      const { consistency } = query;
      return { data: await checkEntitlements(context, { customer, features: asked, consistency }) };
    },
  };
}

function shown({ featureKey, type, value, sources }: ListedEntitlement): Entitlement {
  return { featureKey, type, effectiveValue: shownEffectiveValue(value), sources };
}
