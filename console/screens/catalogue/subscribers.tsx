import { apiPath, useOperation } from '../../api/rest.ts';
import { counted } from '../../design/figures.ts';

/** As many as one page has: of more plans than that the number is a bound. */
const COUNTED_MAX = 100;
const ENDED = ['canceled', 'incomplete_expired'];

/** The subscriptions that follow each change of a plan. */
export interface Subscribers {
  following: number;
  pinned: number;
  /** False: there are at most so many. */
  isExact: boolean;
}

/** Undefined until they are counted. */
export function useSubscribers(planId: string): Subscribers | undefined {
  const path = apiPath(['subscriptions'], { planId, pageSize: COUNTED_MAX });
  const { data } = useOperation<'subscriptions.list'>(path);
  if (!data) return undefined;
  const present = data.data.filter(({ status }) => !ENDED.includes(status));
  const pinned = present.filter(({ planVersion }) => planVersion !== undefined).length;
  const isExact = data.total <= COUNTED_MAX;
  return { following: (isExact ? present.length : data.total) - pinned, pinned, isExact };
}

/** What a change of the plan does to them. */
export function SubscribersTouched({ subscribers }: { subscribers: Subscribers | undefined }) {
  if (!subscribers) return <p>The subscriptions on this plan are not counted yet.</p>;
  const { following, pinned, isExact } = subscribers;
  if (following + pinned === 0) return <p>No subscription is on this plan.</p>;
  const number = counted(following, 'subscription');
  return (
    <p>
      <strong>{isExact ? number : `Up to ${number}`}</strong> {following === 1 ? 'follows' : 'follow'} this
      plan and {following === 1 ? 'gets' : 'get'} the change at once.
      {pinned > 0 ? ` ${counted(pinned, 'subscription')} pinned to a version will not change.` : ''}
    </p>
  );
}

/** What the end of a plan's sales means for them. */
export function SubscriptionsKept({ subscribers }: { subscribers: Subscribers | undefined }) {
  if (!subscribers) return <p>The subscriptions on this plan are not counted yet.</p>;
  const { following, pinned, isExact } = subscribers;
  const all = following + pinned;
  if (all === 0) return <p>No subscription is on this plan.</p>;
  const number = counted(all, 'subscription');
  return (
    <p>
      <strong>{isExact ? number : `Up to ${number}`}</strong> {all === 1 ? 'goes' : 'go'} on as before, period
      after period, until canceled.
    </p>
  );
}
