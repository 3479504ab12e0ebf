/**
 * The page that a plan leads to: `template` with `{planKey}`, `{planId}`, `{interval}`, `{currency}` and
 * `{sessionId}` filled in. The session is always part of it, as the parameter `sessionId` unless the template
 * has a place for it: without it a subscription could not be counted.
 */
export function planUrl(template: string, values: Record<string, string>): string {
  const filled = template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : encodeURIComponent(value);
  });
  if (template.includes('{sessionId}')) return filled;
  const [, address = '', fragment = ''] = /^([^#]*)(.*)$/.exec(filled) ?? [];
  const separator = address.includes('?') ? '&' : '?';
  return `${address}${separator}sessionId=${encodeURIComponent(values.sessionId ?? '')}${fragment}`;
}
