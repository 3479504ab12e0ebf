/** In English. `labels` replaces them. */
export const USAGE_LABELS = {
  used: '{current} of {limit}',
  unlimited: '{current}, unlimited',
  limit: 'Up to {limit}',
  everything: 'Unlimited',
  left: '{remaining} left',
  resets: 'Resets on {date}',
  included: 'Included',
  excluded: 'Not included',
};

export type UsageLabels = typeof USAGE_LABELS;
