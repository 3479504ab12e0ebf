import type { Random } from '../../support/random.ts';
import { fuzzValue } from './fuzz-values.ts';

/** A JSON object's members as texts, `"name":value`, with one or two things wrong. */
export function spoilMembers(members: string[], random: Random): string[] {
  const once = random.pick(SPOILS)(members, random);
  return random.chance(0.2) ? random.pick(SPOILS)(once, random) : once;
}

type Spoil = (members: string[], random: Random) => string[];

const SPOILS: Spoil[] = [otherValue, otherValue, otherValue, without, twice, respelled, strangerAdded];

function otherValue(members: string[], random: Random): string[] {
  const at = random.below(members.length);
  return members.with(at, `${nameOf(members[at])}:${fuzzValue(random)}`);
}

function without(members: string[], random: Random): string[] {
  return members.toSpliced(random.below(members.length), 1);
}

/** Of two members with one name the last one counts. */
function twice(members: string[], random: Random): string[] {
  const name = nameOf(random.pick(members));
  const second = `${name}:${fuzzValue(random)}`;
  return random.chance(0.5) ? [second, ...members] : [...members, second];
}

/** The same name in escapes is the same name; any other spelling is a stranger's. */
function respelled(members: string[], random: Random): string[] {
  const at = random.below(members.length);
  const member = members[at] ?? '';
  const name = nameOf(member).slice(1, -1);
  const rest = member.slice(nameOf(member).length);
  const escaped = [...name].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  const spelling = random.pick([escaped, name.toUpperCase(), `${name} `, `\\u0000${name}`, '__proto__', '']);
  return members.with(at, `"${spelling}"${rest}`);
}

function strangerAdded(members: string[], random: Random): string[] {
  const known = ['__proto__', 'constructor', 'toJSON', 'then', 'id', 'a b'];
  const name = random.pick([...known, 'x'.repeat(1_000), '']);
  return members.toSpliced(random.below(members.length + 1), 0, `"${name}":${fuzzValue(random)}`);
}

/** With its quotes. No name of ours holds one. */
function nameOf(member: string | undefined): string {
  return /^"[^"]*"/.exec(member ?? '')?.[0] ?? '""';
}
