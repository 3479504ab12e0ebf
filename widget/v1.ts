/** What `<script src="…/widget/v1.js" defer>` runs: it defines the elements. */
import { PricingElement } from './pricing/pricing-element.ts';
import { UsageElement } from './usage/usage-element.ts';

const ELEMENTS = { 'metergate-pricing': PricingElement, 'metergate-usage': UsageElement };

// A page may load the script more than once.
for (const [name, element] of Object.entries(ELEMENTS)) {
  if (!customElements.get(name)) customElements.define(name, element);
}
