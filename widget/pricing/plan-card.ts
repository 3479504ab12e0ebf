import { build } from '../element/build.ts';
import { choosePrices, type SwitchedInterval, splitFixed, yearlySaving } from './choose-prices.ts';
import type { OfferedEntitlement, OfferedPlan } from './offered-plan.ts';
import { fixedText, lineOf, type PriceContext, type PriceText, priceText } from './price-texts.ts';

export interface CardContext extends Omit<PriceContext, 'plan'> {
  currency: string | undefined;
  interval: SwitchedInterval;
  /** The key of the plan that is set off. */
  featured: string | null;
  /** 1 to 6, of the names of plans. */
  headingLevel: string;
  /** Where a plan leads; undefined: a button without an address of its own. */
  urlOf: (plan: OfferedPlan) => string | undefined;
  onSelect: (plan: OfferedPlan, event: Event) => void;
}

/** Its parts are the rows of a grid that all cards share, so that they are level. */
export function buildPlanCard(plan: OfferedPlan, context: CardContext): HTMLElement {
  const isCurrent = plan.scenario === 'active';
  const isFeatured = context.featured === plan.key;
  const part = [
    'plan',
    `plan-${plan.key}`,
    isCurrent && 'plan-current',
    isFeatured && 'plan-featured',
  ].filter(Boolean);
  const name = build(`h${context.headingLevel}` as 'h3', { part: 'name', id: `name-${plan.id}` }, plan.name);
  const description = plan.description && build('p', { part: 'description' }, plan.description);
  return build(
    'li',
    { part: part.join(' '), class: isFeatured || isCurrent ? 'plan emphasized' : 'plan' },
    build('div', {}, name, description || undefined),
    ...buildPrices(plan, context),
    buildAction(plan, context),
    buildContents(plan, context),
  );
}

/** The price in large, then what else is charged. */
function buildPrices(plan: OfferedPlan, context: CardContext): HTMLElement[] {
  const { currency, interval } = context;
  const prices = currency === undefined ? [] : choosePrices(plan, { currency, interval });
  const { fixed, rest } = splitFixed(prices, interval);
  const priceContext = { ...context, plan };
  const [first] = rest;
  const headline = fixed
    ? fixedText(fixed, currency ?? '', priceContext)
    : first && priceText(first, priceContext);
  const lines = fixed ? rest : rest.filter((price) => price !== first || priceText(price, priceContext).note);
  const items = lines.map((price) => build('li', {}, lineOf(price, priceContext)));
  const saving = interval === 'year' && fixed?.interval === 'year' ? savingOf(plan, context) : undefined;
  return [
    build('p', { part: 'price' }, ...(headline ? headlineOf(headline) : []), saving),
    build('ul', { part: 'prices', role: 'list' }, ...items),
  ];
}

function headlineOf({ amount, per }: PriceText): HTMLElement[] {
  return [build('span', { part: 'amount' }, amount), build('span', { part: 'period' }, ` / ${per}`)];
}

function savingOf(plan: OfferedPlan, { currency, formats, labels }: CardContext): HTMLElement | undefined {
  const saving = yearlySaving(plan, currency ?? '');
  if (saving === undefined) return undefined;
  const share = formats.percent(Math.floor(saving * 100) / 100);
  return build('span', { part: 'saving' }, `${labels.save} ${share}`);
}

/** The plan that the customer has, or will have, leads nowhere. */
function buildAction(plan: OfferedPlan, { featured, labels, urlOf, onSelect }: CardContext): HTMLElement {
  const { scenario = 'new' } = plan;
  const text = scenario === 'new' ? (plan.callToAction ?? labels.new) : labels[scenario];
  if (scenario === 'active' || scenario === 'scheduled') return build('p', { part: 'status' }, text);
  const href = urlOf(plan);
  const isQuiet = scenario === 'downgrade' || (featured !== null && featured !== plan.key);
  const looks = { part: 'action', class: isQuiet ? 'quiet' : undefined };
  const described = { ...looks, 'aria-describedby': `name-${plan.id}` };
  const action =
    href === undefined
      ? build('button', { ...described, type: 'button' }, text)
      : build('a', { ...described, href }, text);
  action.addEventListener('click', (event) => onSelect(plan, event));
  return action;
}

function buildContents(plan: OfferedPlan, context: CardContext): HTMLElement {
  const highlights = (plan.highlights ?? []).map((text) => build('li', {}, text));
  const rows = plan.entitlements.map((one) => buildEntitlement(one, context));
  return build(
    'div',
    { class: 'contents' },
    build('slot', { name: `plan-${plan.key}` }),
    highlights.length > 0 ? build('ul', { part: 'highlights', role: 'list' }, ...highlights) : undefined,
    rows.length > 0 ? build('dl', { part: 'entitlements' }, ...rows) : undefined,
  );
}

function buildEntitlement(
  { featureName, value, unit }: OfferedEntitlement,
  { formats, labels }: CardContext,
): HTMLElement {
  const isWithout = value === false || value === 0;
  const amount = () => [formats.number(Number(value)), unit].filter(Boolean).join(' ');
  const text =
    value === null
      ? labels.unlimited
      : isWithout
        ? labels.excluded
        : value === true
          ? labels.included
          : amount();
  const shown = typeof value === 'boolean' ? buildMark(value, text) : text;
  return build(
    'div',
    {
      part: isWithout ? 'entitlement entitlement-without' : 'entitlement',
      class: isWithout ? 'without' : undefined,
    },
    build('dt', {}, featureName),
    build('dd', {}, shown),
  );
}

/** A sign for eyes and the word for ears. */
function buildMark(isIncluded: boolean, word: string): HTMLElement {
  const sign = build('span', { 'aria-hidden': 'true' }, isIncluded ? '✓' : '–');
  return build('span', {}, sign, build('span', { class: 'unseen' }, word));
}
