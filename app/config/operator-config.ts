import type { OperatorPages } from '../../infra/platform/operator-access.ts';
import type { EnvReader } from './env-reader.ts';

export const OPERATOR_VARIABLES = [
  'METRICS_PORT', //             a port of their own for /metrics and the details of /readyz; the public one
  'METRICS_HOST', //             its address; 127.0.0.1
  'METRICS_TOKEN', //            a bearer token that they require; public without it
] as const;

export type OperatorVariable = (typeof OPERATOR_VARIABLES)[number];

const TOKEN_CHARS_MIN = 16;

export function readOperatorPages(
  given: EnvReader<string>,
  { port, isHost }: { port: number; isHost: (text: string) => boolean },
): OperatorPages {
  const read = given as EnvReader<OperatorVariable>;
  const metricsPort = read.optionalInteger('METRICS_PORT', { min: 1, max: 65_535 });
  if (metricsPort === port) read.fault('METRICS_PORT', 'has to be another port than PORT');
  const metricsHost = read.optionalMatching('METRICS_HOST', isHost, 'an address or a host name');
  if (metricsHost !== undefined && metricsPort === undefined) {
    read.fault('METRICS_HOST', 'is of use with METRICS_PORT only');
  }
  const isToken = (text: string) => text.length >= TOKEN_CHARS_MIN && /^[\x21-\x7e]+$/.test(text);
  const expected = `visible ASCII without spaces, ${TOKEN_CHARS_MIN} characters or more`;
  const metricsToken = read.optionalMatching('METRICS_TOKEN', isToken, expected);
  return {
    ...(metricsPort === undefined ? {} : { metricsPort }),
    metricsHost: metricsHost ?? '127.0.0.1',
    ...(metricsToken === undefined ? {} : { metricsToken }),
  };
}
