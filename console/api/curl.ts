import { exactBody } from './exact-body.ts';
import type { ApiRequest } from './send.ts';

/** The same request for a shell. The key stays out of it: it is the variable METERGATE_KEY. */
export function curlOf({ method, path, body, headers = {} }: ApiRequest, origin: string): string {
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(`${origin}${path}`)}`];
  lines.push('-H "Authorization: Bearer $METERGATE_KEY"');
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `--data-binary ${quoted(exactBody(body))}`);
  }
  return lines.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
