import type { TSchema } from 'typebox';

/** Of a union with a discriminator the branch that the body names; undefined for all other schemas. */
export function branchOf(schema: TSchema, body: object): TSchema | undefined {
  const { discriminator, oneOf = [] } = schema as Union;
  if (!discriminator) return undefined;
  const tag = discriminator.propertyName;
  const named = (body as Record<string, unknown>)[tag];
  return oneOf.find(({ properties }) => properties[tag]?.const === named);
}

interface Union {
  discriminator?: { propertyName: string };
  oneOf?: Array<TSchema & { properties: Record<string, { const?: unknown }> }>;
}
