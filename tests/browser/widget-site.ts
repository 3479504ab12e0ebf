import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { listen } from '../support/listen.ts';

/** A customer's site: another origin than the server, with the strictest policy that the docs name. */
export interface Site {
  url: string;
  /** Serves the sample of the documentation, as its readers would fill it in. */
  sample(replacements?: Record<string, string>): string;
  /** Serves a page with this body under a new address, which it returns. */
  page(body: string, lang?: string): string;
  close(): Promise<void>;
}

const SAMPLE = 'docs/samples/pricing-page';
/** In the sample. */
const SERVER = 'https://billing.example.com';

export async function openSite(server: string): Promise<Site> {
  const pages = new Map<string, string>();
  const policy = `default-src 'none'; style-src 'self'; script-src ${server}; connect-src ${server}`;
  const http = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const isStyle = pathname.endsWith('.css');
    response.setHeader('Content-Type', `text/${isStyle ? 'css' : 'html'}; charset=utf-8`);
    response.setHeader('Content-Security-Policy', policy);
    response.end(isStyle ? readFileSync(`${SAMPLE}.css`) : (pages.get(pathname) ?? '<title>Page</title>'));
  });
  const { url, close } = await listen(http);
  const add = (html: string) => {
    const path = `/page-${pages.size}`;
    pages.set(path, html);
    return `${url}${path}`;
  };
  return {
    url,
    close,
    sample(replacements = {}) {
      let html = readFileSync(`${SAMPLE}.html`, 'utf8').replaceAll(SERVER, server);
      for (const [from, to] of Object.entries(replacements)) html = html.replaceAll(from, to);
      return add(html);
    },
    page(body, lang = 'en') {
      return add(`<!doctype html><html lang="${lang}"><title>Page</title>
        <script src="${server}/widget/v1.js" defer></script><main><h1>Page</h1>${body}</main></html>`);
    },
  };
}
