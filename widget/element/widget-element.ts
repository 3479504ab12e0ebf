import { build } from './build.ts';
import { createFormats, type Formats } from './formats.ts';
import { type Labels, readLabels } from './labels.ts';

/** Of a load, with its response. */
const PATIENCE_MS = 10_000;

/**
 * An element that reads its content from the server and shows it in a shadow root. Until then it shows a
 * placeholder of the same size; when there is nothing to show, its own children, with one warning.
 */
export abstract class WidgetElement extends HTMLElement {
  readonly #shadow = this.attachShadow({ mode: 'open' });
  #loading: AbortController | undefined;
  #isRequested = false;
  #isShown = false;
  #isWarned = false;

  /** Throws an Error whose message says why there is nothing to show. */
  protected abstract load(signal: AbortSignal): Promise<Node>;
  protected abstract placeholder(): Node;
  /** Once per content, when it is in the document. */
  protected shown(_content: Node): void {}
  protected failed(_error: unknown): void {}

  protected useStyles(...texts: string[]): void {
    this.#shadow.adoptedStyleSheets = texts.map((text) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      return sheet;
    });
  }

  connectedCallback(): void {
    this.reload();
  }

  disconnectedCallback(): void {
    this.#loading?.abort();
    this.#loading = undefined;
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.reload();
  }

  /** Once, however many attributes a script changes in a row. What is shown stays until there is more. */
  protected reload(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    if (!this.#isShown) this.#show(this.placeholder());
    queueMicrotask(() => {
      this.#isRequested = false;
      if (this.isConnected) void this.#load();
    });
  }

  async #load(): Promise<void> {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    const timer = setTimeout(() => loading.abort(), PATIENCE_MS);
    try {
      const content = await this.load(loading.signal);
      if (this.#loading !== loading) return;
      this.#isShown = true;
      this.#show(content);
      this.shown(content);
    } catch (error) {
      if (this.#loading === loading) this.#fallBack(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #fallBack(error: unknown): void {
    const isLate = error instanceof DOMException && error.name === 'AbortError';
    this.warn(isLate ? 'the server did not respond in time.' : String((error as Error).message));
    this.#isShown = false;
    this.#show(build('slot'));
    this.failed(error);
  }

  #show(content: Node): void {
    this.#shadow.replaceChildren(content);
  }

  /** Only the first: a page is no place for a log. */
  protected warn(message: string): void {
    if (this.#isWarned) return;
    this.#isWarned = true;
    console.warn(`<${this.localName}>: ${message}`);
  }

  protected formats(): Formats {
    const near = this.closest<HTMLElement>('[lang]')?.lang;
    return createFormats(this.getAttribute('locale') || near || navigator.language);
  }

  protected labels<Known extends Labels>(known: Known): Known {
    const { labels, fault } = readLabels(this.getAttribute('labels'), known);
    if (fault) this.warn(fault);
    return labels;
  }
}
