import { createHash } from 'node:crypto';
import type { PublicPage } from '../http/public-page.ts';
import { DEMO_SCRIPT, DEMO_STYLE } from './demo-assets.ts';

/** Nothing but the widget runs, and nothing leaves this origin. The page's style and script are hashed. */
const DEMO_POLICY = [
  "default-src 'none'",
  `script-src 'self' ${hashSource(DEMO_SCRIPT)}`,
  `style-src ${hashSource(DEMO_STYLE)}`,
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The plans of the environment that the publishable key is of. */
export function demoPage(key: string): PublicPage {
  return {
    mediaType: 'text/html; charset=utf-8',
    headers: {
      'Content-Security-Policy': DEMO_POLICY,
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    },
    body: htmlOf(key),
  };
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** A key has no character that HTML would read as markup. */
function htmlOf(key: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pricing of the demo workspace · Metergate</title>
<style>${DEMO_STYLE}</style>
<script src="/widget/v1.js" defer></script>
<header>
<p class="mode">Demo workspace · test mode</p>
<h1>Your plans, on your page</h1>
<p>Every published plan of the demo workspace, as visitors of a pricing page would see it.</p>
</header>
<main>
<metergate-pricing key="${key}" heading-level="2">
<p class="empty">The demo workspace has no published plan yet. Create one with the API
(<a href="/docs">/docs</a>), give it prices, publish it, and load this page again.</p>
</metergate-pricing>
<output id="chosen" hidden></output>
<section>
<h2>This is all that the page contains</h2>
<pre tabindex="0"><code id="sample">&lt;script src="/widget/v1.js" defer&gt;&lt;/script&gt;
&lt;metergate-pricing key="${key}"
                   plan-url="/checkout?plan={planKey}"&gt;
&lt;/metergate-pricing&gt;</code></pre>
</section>
</main>
<script>${DEMO_SCRIPT}</script>
</html>
`;
}
