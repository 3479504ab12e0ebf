import { createHash } from 'node:crypto';
import { Rejected } from '../../schemas/failures.ts';
import type { PublicPage, PublicPages } from '../http/public-page.ts';
import { demoPage } from './demo-page.ts';
import { readWidgetScript, type WidgetScript } from './read-script.ts';

type WidgetPages = Pick<PublicPages, 'widget.script' | 'widget.demo'>;

export interface WidgetPagesDeps {
  demoKey?: (() => string | undefined) | undefined;
}

/** Reads the script when it is first requested. */
export function createWidgetPages({ demoKey = () => undefined }: WidgetPagesDeps): WidgetPages {
  let script: PublicPage | undefined;
  return {
    'widget.script': () => {
      script ??= scriptPage(readWidgetScript());
      return script;
    },
    'widget.demo': () => {
      const key = demoKey();
      if (key !== undefined) return demoPage(key);
      throw new Rejected('not_found', 'This installation has no demo workspace. See /docs.');
    },
  };
}

/**
 * A day, and a week while a browser asks for a newer one: the address stays when the script is corrected. Any
 * page may load it, also one that isolates itself or compares its hash.
 */
const SCRIPT_HEADERS = {
  'Cache-Control': 'public, max-age=86400, stale-while-revalidate=604800',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
};

function scriptPage(script: WidgetScript | undefined): PublicPage {
  if (!script)
    throw new Rejected('not_found', 'This program was built without the widget. Run npm run build.');
  const { content: body, encoded } = script;
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  // Weak: the same for each encoding.
  const headers = { ...SCRIPT_HEADERS, ETag: `W/"${hash}"` };
  return { mediaType: 'text/javascript; charset=utf-8', headers, body, encoded };
}
