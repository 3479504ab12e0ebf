import type { OperatorAccess, OperatorCaller } from '../../infra/platform/operator-access.ts';
import type { Readiness } from '../../schemas/resources/service.ts';

/** What this caller sees of it: its status alone when the details are for operators. */
export type ShownReadiness = (caller: OperatorCaller) => Promise<Readiness>;

export function createShownReadiness(
  readiness: () => Promise<Readiness>,
  access: OperatorAccess,
): ShownReadiness {
  return async (caller) => {
    const response = await readiness();
    return access.rejectionOf(caller) ? { status: response.status } : response;
  };
}
