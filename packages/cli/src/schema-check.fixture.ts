/** The part of JSON Schema that wire's messages use, so that a fixture cannot drift from the contract. */

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Where and how `value` differs from the schema; unknown fields of an object differ too, as a slip of the pen. */
export function schemaFaults(schema: unknown, value: unknown, at = '$'): string[] {
  const rule = schema as Schema;
  if (rule.anyOf !== undefined) {
    const each = rule.anyOf.map((option) => schemaFaults(option, value, at));
    return each.some((faults) => faults.length === 0) ? [] : [`${at} fits no alternative`];
  }
  if ('const' in rule) return rule.const === value ? [] : [`${at} is not ${String(rule.const)}`];
  switch (rule.type) {
    case 'undefined':
      return value === undefined ? [] : [`${at} is there`];
    case 'null':
      return value === null ? [] : [`${at} is not null`];
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`${at} is no boolean`];
    case 'integer':
      return numberFaults(rule, value, at);
    case 'string':
      return textFaults(rule, value, at);
    case 'array':
      return arrayFaults(rule, value, at);
    case 'object':
      return objectFaults(rule, value, at);
    default:
      return [];
  }
}

function numberFaults(rule: Schema, value: unknown, at: string): string[] {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return [`${at} is no whole number`];
  const fits = value >= (rule.minimum ?? -Infinity) && value <= (rule.maximum ?? Infinity);
  return fits ? [] : [`${at} is out of range`];
}

function textFaults(rule: Schema, value: unknown, at: string): string[] {
  if (typeof value !== 'string') return [`${at} is no text`];
  if (value.length > (rule.maxLength ?? Infinity) || value.length < (rule.minLength ?? 0))
    return [`${at} has a wrong length`];
  return rule.pattern === undefined || new RegExp(rule.pattern).test(value)
    ? []
    : [`${at} does not match ${rule.pattern}`];
}

function arrayFaults(rule: Schema, value: unknown, at: string): string[] {
  if (!Array.isArray(value)) return [`${at} is no array`];
  if (value.length > (rule.maxItems ?? Infinity) || value.length < (rule.minItems ?? 0))
    return [`${at} has a wrong length`];
  return value.flatMap((item, index) => schemaFaults(rule.items ?? {}, item, `${at}[${index}]`));
}

function objectFaults(rule: Schema, value: unknown, at: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at} is no object`];
  const missing = (rule.required ?? [])
    .filter((field) => !Object.hasOwn(value, field))
    .map((field) => `${at}.${field} is missing`);
  const patterns = Object.entries(rule.patternProperties ?? {});
  const inside = Object.entries(value).flatMap(([field, item]) => {
    const named = rule.properties?.[field] ?? patterns.find(([pattern]) => new RegExp(pattern).test(field))?.[1];
    return named === undefined ? [`${at}.${field} is unknown`] : schemaFaults(named, item, `${at}.${field}`);
  });
  return [...missing, ...inside];
}
