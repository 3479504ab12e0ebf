/** Where the server is, and the key to it. */
export interface ServerAddress {
  url: string;
  apiKey: string;
}

/**
 * The same without what surrounds it. Throws a TypeError that repeats neither: what fetch says of a header or
 * a URL that it cannot send has all of it, and is logged.
 */
export function checkedAddress({ url, apiKey }: ServerAddress): ServerAddress {
  return { url: checkedUrl(url), apiKey: checkedKey(apiKey) };
}

function checkedUrl(text: string): string {
  const url = parsed(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError('`url` must be like https://usage.example.com.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('`url` must have no user name and no password: the API key is sent in a header.');
  }
  if (/[?#]/.test(text)) throw new TypeError('`url` must have no query and no fragment.');
  return text.trim().replace(/\/+$/, '');
}

function checkedKey(text: string): string {
  const key = typeof text === 'string' ? text.trim() : '';
  if (/^[!-~]+$/.test(key)) return key;
  throw new TypeError('`apiKey` must be an API key such as sk_live_…, without spaces and line breaks.');
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
