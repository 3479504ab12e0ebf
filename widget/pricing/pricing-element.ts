import { css as base } from '../element/base.css';
import { build } from '../element/build.ts';
import { apiUrl, readJson } from '../element/server.ts';
import { WidgetElement } from '../element/widget-element.ts';
import { currencyOf, type SwitchedInterval, switchedIntervals } from './choose-prices.ts';
import { createFunnel } from './funnel.ts';
import { buildIntervalSwitch } from './interval-switch.ts';
import { PRICING_LABELS } from './labels.ts';
import type { OfferedPlan } from './offered-plan.ts';
import { buildPlanCard, type CardContext } from './plan-card.ts';
import { planUrl } from './plan-url.ts';
import { css as styles } from './pricing.css';

const PLANS_EXPECTED = 3;
/** Of the element, or of a phone's screen of it. */
const SEEN_SHARE = 0.1;

/**
 * `<metergate-pricing key="pk_…" plan-url="/checkout?plan={planKey}">`: the published plans as cards. Reports
 * `widget_view` when it is seen, and `checkout_started` when a plan is chosen, after which it dispatches
 * `metergate:select`.
 */
export class PricingElement extends WidgetElement {
  static readonly observedAttributes = [
    ...['key', 'token', 'plan-url', 'currency', 'interval', 'featured', 'heading-level'],
    ...['locale', 'labels', 'plans', 'api'],
  ];

  readonly #funnel = createFunnel(() => ({ api: this.getAttribute('api'), key: this.#key() }));
  #seen: IntersectionObserver | undefined;
  #interval: SwitchedInterval | undefined;

  constructor() {
    super();
    this.useStyles(base, styles);
  }

  /** Anonymous, of this element alone: `metadata.sessionId` of the subscription that it leads to. */
  get sessionId(): string {
    return this.#funnel.sessionId;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#seen?.disconnect();
  }

  protected override placeholder(): Node {
    const count = Math.min(Math.max(Number(this.getAttribute('plans')) || PLANS_EXPECTED, 1), 12);
    const cards = Array.from({ length: count }, () => build('li', { class: 'plan waiting' }));
    return this.#container(build('div', { class: 'bar' }), this.#list(cards), 'true');
  }

  protected override async load(signal: AbortSignal): Promise<Node> {
    const plans = await this.#readPlans(signal);
    if (plans.length === 0) throw new Error('there is no published plan.');
    const currency = currencyOf(plans, this.getAttribute('currency'));
    const intervals = currency === undefined ? [] : switchedIntervals(plans, currency);
    const wanted = this.#interval ?? this.getAttribute('interval');
    const interval = intervals.find((one) => one === wanted) ?? intervals[0] ?? 'month';
    const context = this.#cardContext(currency);
    const cardsFor = (chosen: SwitchedInterval) => plans.map((plan) => buildPlanCard(plan, context(chosen)));
    const list = this.#list(cardsFor(interval));
    const onChange = (chosen: SwitchedInterval) => {
      this.#interval = chosen;
      list.replaceChildren(...cardsFor(chosen));
    };
    const { labels } = context(interval);
    const choice =
      intervals.length > 1
        ? buildIntervalSwitch({ intervals, chosen: interval, labels, onChange })
        : undefined;
    return this.#container(build('div', { part: 'bar', class: 'bar' }, choice), list);
  }

  protected override shown(content: Node): void {
    this.#seen?.disconnect();
    this.#seen = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        this.#seen?.disconnect();
        this.#funnel.viewed();
      },
      { threshold: SEEN_SHARE },
    );
    this.#seen.observe(content as Element);
  }

  /** Without the token when it is not accepted: prices are no secret. */
  async #readPlans(signal: AbortSignal): Promise<OfferedPlan[]> {
    const api = this.getAttribute('api');
    const token = this.getAttribute('token');
    if (token) {
      try {
        return (await readJson<{ plans: OfferedPlan[] }>(apiUrl(api, '/pricing'), { token, signal })).plans;
      } catch (error) {
        if (signal.aborted) throw error;
        this.warn(`${(error as Error).message} Plans are shown without those of the customer.`);
      }
    }
    if (this.#key() === '') throw new Error('the attribute key is missing: a publishable key.');
    const url = apiUrl(api, `/pricing?key=${encodeURIComponent(this.#key())}`);
    return (await readJson<{ plans: OfferedPlan[] }>(url, { signal })).plans;
  }

  #cardContext(currency: string | undefined): (interval: SwitchedInterval) => CardContext {
    const [formats, labels] = [this.formats(), this.labels(PRICING_LABELS)];
    const level = this.getAttribute('heading-level') ?? '';
    return (interval) => ({
      ...{ formats, labels, currency, interval },
      featured: this.getAttribute('featured'),
      headingLevel: /^[1-6]$/.test(level) ? level : '3',
      urlOf: (plan) => this.#urlOf(plan, interval, currency),
      onSelect: (plan, event) => this.#select(plan, event, { interval, currency }),
    });
  }

  #urlOf(plan: OfferedPlan, interval: string, currency = ''): string | undefined {
    const template = this.getAttribute('plan-url');
    if (template === null) return undefined;
    const { id: planId, key: planKey } = plan;
    return planUrl(template, { planId, planKey, interval, currency, sessionId: this.sessionId });
  }

  /** Reported before the page acts: a subscription made at once still comes after it. */
  #select(plan: OfferedPlan, event: Event, chosen: { interval: string; currency: string | undefined }): void {
    this.#funnel.started(plan.id);
    const detail = {
      ...{ planId: plan.id, planKey: plan.key, sessionId: this.sessionId, ...chosen },
      scenario: plan.scenario ?? 'new',
      url: this.#urlOf(plan, chosen.interval, chosen.currency),
    };
    const selected = new CustomEvent('metergate:select', {
      ...{ detail, bubbles: true, composed: true, cancelable: true },
    });
    if (!this.dispatchEvent(selected)) event.preventDefault();
  }

  #key(): string {
    return this.getAttribute('key') ?? '';
  }

  #list(cards: HTMLElement[]): HTMLElement {
    const list = build('ul', { part: 'plans', class: 'plans', role: 'list' }, ...cards);
    list.style.setProperty('--count', String(cards.length));
    return list;
  }

  #container(bar: HTMLElement, list: HTMLElement, busy?: string): HTMLElement {
    return build('div', { part: 'container', class: 'container', 'aria-busy': busy }, bar, list);
  }
}
