/** The texts that the catalogue does not have, in English. `labels` replaces them. */
export const PRICING_LABELS = {
  billing: 'Billing period',
  month: 'Monthly',
  year: 'Yearly',
  save: 'Save',
  from: 'from',
  included: 'included',
  excluded: 'Not included',
  unlimited: 'Unlimited',
  new: 'Choose plan',
  upgrade: 'Upgrade',
  downgrade: 'Downgrade',
  active: 'Current plan',
  scheduled: 'Scheduled',
};

export type PricingLabels = typeof PRICING_LABELS;
