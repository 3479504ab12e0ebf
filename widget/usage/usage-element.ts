import { css as base } from '../element/base.css';
import { build } from '../element/build.ts';
import { apiUrl, RequestFailed, readJson } from '../element/server.ts';
import { WidgetElement } from '../element/widget-element.ts';
import { USAGE_LABELS } from './labels.ts';
import { css as styles } from './usage.css';
import { type Decision, usageTexts } from './usage-texts.ts';

const REFRESH_SECONDS_MIN = 10;

/**
 * `<metergate-usage token="ct_…" feature="calls">`: how much of a feature the customer of the token has used.
 * Dispatches `metergate:token-ended` when the token is not accepted any more.
 */
export class UsageElement extends WidgetElement {
  static readonly observedAttributes = ['token', 'feature', 'label', 'refresh', 'locale', 'labels', 'api'];

  #timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super();
    this.useStyles(base, styles);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#timer);
  }

  protected override placeholder(): Node {
    return build('div', { class: 'usage waiting', 'aria-busy': 'true' });
  }

  protected override async load(signal: AbortSignal): Promise<Node> {
    this.#refreshRegularly();
    const [token, feature] = [this.getAttribute('token'), this.getAttribute('feature')];
    if (!token || !feature) throw new Error('the attributes token and feature are required.');
    const url = apiUrl(this.getAttribute('api'), `/entitlements/me/${encodeURIComponent(feature)}`);
    const decision = await readJson<Decision>(url, { token, signal });
    if (decision.type === undefined) throw new Error(decision.reason);
    return this.#buildUsage(decision);
  }

  protected override failed(error: unknown): void {
    if (!(error instanceof RequestFailed) || error.status !== 401) return;
    clearInterval(this.#timer);
    this.dispatchEvent(new CustomEvent('metergate:token-ended', { bubbles: true, composed: true }));
  }

  /** Not while the page is hidden. */
  #refreshRegularly(): void {
    clearInterval(this.#timer);
    const seconds = Number(this.getAttribute('refresh'));
    if (!(seconds > 0)) return;
    const everyMs = Math.max(seconds, REFRESH_SECONDS_MIN) * 1_000;
    this.#timer = setInterval(() => document.visibilityState === 'visible' && this.reload(), everyMs);
  }

  #buildUsage(decision: Decision): Node {
    const label = this.getAttribute('label') ?? decision.featureKey.replace(/[_-]+/g, ' ');
    const { amount, note, share, level } = usageTexts(decision, this.formats(), this.labels(USAGE_LABELS));
    const meter = share === undefined ? undefined : buildMeter(share, { label, amount, level });
    return build(
      'div',
      { part: 'container', class: 'usage' },
      build(
        'div',
        { class: 'head' },
        build('span', { part: 'label' }, build('slot', { name: 'label' }, label)),
        build('span', { part: 'amount' }, amount),
      ),
      meter,
      build('p', { part: 'note' }, note),
    );
  }
}

interface Meter {
  label: string;
  amount: string;
  level: string;
}

function buildMeter(share: number, { label, amount, level }: Meter): HTMLElement {
  const percent = Math.round(Math.min(share, 1) * 100);
  const bar = build('div', { part: `bar bar-${level}`, class: `bar ${level}` });
  bar.style.inlineSize = `${percent}%`;
  const values = { 'aria-valuemin': '0', 'aria-valuemax': '100', 'aria-valuenow': String(percent) };
  const named = { role: 'meter', 'aria-label': label, 'aria-valuetext': amount };
  return build('div', { part: 'track', class: 'track', ...named, ...values }, bar);
}
