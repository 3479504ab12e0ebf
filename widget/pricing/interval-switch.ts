import { build } from '../element/build.ts';
import type { SwitchedInterval } from './choose-prices.ts';
import type { PricingLabels } from './labels.ts';

export interface IntervalSwitch {
  intervals: readonly SwitchedInterval[];
  chosen: SwitchedInterval;
  labels: PricingLabels;
  onChange: (interval: SwitchedInterval) => void;
}

/** Radio buttons: browsers move between them with the arrow keys. */
export function buildIntervalSwitch({ intervals, chosen, labels, onChange }: IntervalSwitch): HTMLElement {
  const options = intervals.map((interval) => {
    const radio = build('input', { type: 'radio', name: 'interval', value: interval });
    radio.checked = interval === chosen;
    radio.addEventListener('change', () => onChange(interval));
    return build('label', { part: 'switch-option' }, radio, build('span', {}, labels[interval]));
  });
  const legend = build('legend', { class: 'unseen' }, labels.billing);
  return build('fieldset', { part: 'switch', class: 'switch' }, legend, ...options);
}
