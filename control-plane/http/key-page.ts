import { type HashedAssets, STYLE } from './hashed-assets.ts';
import { KEY_FORM_STYLE } from './key-form-assets.ts';

/** A page for people on which an API key is entered, with a program from an npm package below. */
export interface KeyPage {
  title: string;
  /** Paths of its files. */
  icon: string;
  styles: string[];
  scripts: string[];
  /** The element that the program fills. */
  main: string;
  /** For a browser without JavaScript. */
  noscript: string;
}

export function keyPageHtml({ title, icon, styles, scripts, main, noscript }: KeyPage): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${icon}">
${styles.map((path) => `<link rel="stylesheet" href="${path}">`).join('\n')}
<form id="key-form">
<label for="key">API key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false">
<button type="submit">Use key</button>
<button type="button" id="forget" hidden>Forget key</button>
<p id="key-state" role="status"></p>
</form>
<noscript>This page needs JavaScript; ${noscript}</noscript>
${main}
${scripts.map((path) => `<script src="${path}" defer></script>`).join('\n')}
</html>
`;
}

/** Adds the style of the form with that of the page. */
export function addPageStyle({ add }: HashedAssets, style: string): string {
  return add('page.css', STYLE, KEY_FORM_STYLE + style);
}

/** Nothing is loaded from, run from, framed by or sent to another site. Icons may be data URLs. */
export function keyPagePolicy(more: Record<string, string> = {}): string {
  const directives = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    ...more,
  };
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources}`)
    .join('; ');
}
