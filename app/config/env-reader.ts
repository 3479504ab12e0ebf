import { parseUrl } from '../../infra/platform/parse-url.ts';

/**
 * Reads text variables as what they mean and collects every fault, so that one message can name them all.
 * Faults never repeat the text that was given: it may be a secret.
 */
export interface EnvReader<Name extends string> {
  integer(name: Name, range: IntegerRange & { fallback: number }): number;
  optionalInteger(name: Name, range: IntegerRange): number | undefined;
  boolean(name: Name, fallback: boolean): boolean;
  matching(name: Name, fallback: string, holds: (text: string) => boolean, expected: string): string;
  optionalMatching(name: Name, holds: (text: string) => boolean, expected: string): string | undefined;
  url(name: Name, protocols: string[]): string | undefined;
  fault(name: Name, what: string): void;
  faults(): string[];
}

export interface IntegerRange {
  min: number;
  max: number;
}

export function createEnvReader<Name extends string>(env: Partial<Record<Name, string>>): EnvReader<Name> {
  const faults: string[] = [];

  function fault(name: Name, what: string): void {
    faults.push(`${name} ${what}`);
  }

  function optionalMatching(
    name: Name,
    holds: (text: string) => boolean,
    expected: string,
  ): string | undefined {
    const text = env[name];
    if (text === undefined || holds(text)) return text;
    fault(name, `has to be ${expected}`);
    return undefined;
  }

  function optionalInteger(name: Name, { min, max }: IntegerRange): number | undefined {
    const inRange = (text: string) => /^\d{1,16}$/.test(text) && Number(text) >= min && Number(text) <= max;
    const text = optionalMatching(name, inRange, `a whole number from ${min} to ${max}`);
    return text === undefined ? undefined : Number(text);
  }

  return {
    integer: (name, { fallback, ...range }) => optionalInteger(name, range) ?? fallback,
    optionalInteger,
    boolean: (name, fallback) => {
      const text = optionalMatching(name, (given) => given === 'true' || given === 'false', 'true or false');
      return text === undefined ? fallback : text === 'true';
    },
    matching: (name, fallback, holds, expected) => optionalMatching(name, holds, expected) ?? fallback,
    optionalMatching,
    url: (name, protocols) => {
      const known = (text: string) => protocols.includes(parseUrl(text)?.protocol ?? '');
      return optionalMatching(
        name,
        known,
        `a URL that begins with ${protocols.map((one) => `${one}//`).join(' or ')}`,
      );
    },
    fault,
    faults: () => faults,
  };
}
