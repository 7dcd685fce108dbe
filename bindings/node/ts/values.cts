/** How values cross to Rust and back: protobuf's JSON form there, and here `bigint` and `Uint8Array` in their places. */

import { schema, type Field } from './generated/schema.cjs';

/**
 * What may be given for a message: its fields, each of which may be left out. A revision, as every 64-bit number, is a
 * `bigint` or its decimal digits, and never a `number`, which would lose some.
 */
export type Init<T> = T extends bigint
  ? bigint | `${bigint}`
  : T extends string | number | boolean | Uint8Array
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Init<Item>[]
      : { readonly [Name in keyof T]?: Init<T[Name]> | undefined };

/** The JSON form of a message. */
export function toJson(message: string, value: unknown): string {
  return JSON.stringify(given(message, value, message));
}

/** The message that a JSON form is of, as a text or as what a text was parsed to. */
export function fromJson<T>(message: string, json: unknown): T {
  const parsed: unknown = typeof json === 'string' ? JSON.parse(json) : json;
  return taken(message, parsed as Json) as T;
}

type Json = { readonly [name: string]: unknown };

/** Whether `value` has fields. */
function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

function given(message: string, value: unknown, path: string): Json {
  if (!isRecord(value)) throw new TypeError(`${path} must be an object with the fields of ${message}`);
  const fields = schema[message] ?? {};
  const json: { [name: string]: unknown } = {};
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    // What there is no such field for is refused where the rules are.
    json[name] = field === undefined ? item : givenField(field, item, `${path}.${name}`);
  }
  return json;
}

function givenField([shape, kind]: Field, value: unknown, path: string): unknown {
  if (shape === '*') {
    if (!Array.isArray(value)) throw new TypeError(`${path} must be an array`);
    return value.map((item, index) => givenValue(kind, item, `${path}[${index}]`));
  }
  if (shape === '%') {
    if (!isRecord(value)) throw new TypeError(`${path} must be an object that maps strings`);
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return Object.fromEntries(entries.map(([key, item]) => [key, givenValue(kind, item, `${path}.${key}`)]));
  }
  return givenValue(kind, value, path);
}

function givenValue(kind: string, value: unknown, path: string): unknown {
  switch (kind) {
    case 'l':
      if (typeof value === 'bigint') return value.toString();
      if (typeof value === 'string' && /^-?[0-9]+$/.test(value)) return value;
      throw new TypeError(`${path} must be a bigint, or a string of decimal digits`);
    case 'y':
      if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
      throw new TypeError(`${path} must be a Uint8Array`);
    case 's':
    case 'e':
      if (typeof value === 'string') return value;
      throw new TypeError(`${path} must be a string`);
    case 'n':
      if (typeof value === 'number') return value;
      throw new TypeError(`${path} must be a number`);
    case 'b':
      if (typeof value === 'boolean') return value;
      throw new TypeError(`${path} must be a boolean`);
    default:
      return given(kind, value, path);
  }
}

function taken(message: string, json: Json): Json {
  const value: { [name: string]: unknown } = {};
  for (const [name, field] of Object.entries(schema[message] ?? {})) {
    const item = takenField(field, json[name]);
    if (item !== undefined) value[name] = item;
  }
  return value;
}

function takenField([shape, kind, zero]: Field, json: unknown): unknown {
  switch (shape) {
    case '*':
      return ((json ?? []) as unknown[]).map((item) => takenValue(kind, item));
    case '%': {
      const entries = Object.entries((json ?? {}) as Json);
      return Object.fromEntries(entries.map(([key, item]) => [key, takenValue(kind, item)]));
    }
    case '?':
      return json === undefined || json === null ? undefined : takenValue(kind, json);
    case '=':
      return json === undefined || json === null ? nothing(kind, zero) : takenValue(kind, json);
  }
}

function takenValue(kind: string, json: unknown): unknown {
  switch (kind) {
    case 'l':
      return BigInt(json as string);
    case 'y':
      // Bytes of its own: a small buffer is a part of one that many share.
      return new Uint8Array(Buffer.from(json as string, 'base64'));
    case 's':
    case 'e':
    case 'n':
    case 'b':
      return json;
    default:
      return taken(kind, json as Json);
  }
}

/** What a field holds that protobuf's JSON form leaves out. */
function nothing(kind: string, zero: string | undefined): unknown {
  switch (kind) {
    case 'l':
      return 0n;
    case 'y':
      return new Uint8Array();
    case 'e':
      return zero;
    case 'n':
      return 0;
    case 'b':
      return false;
    default:
      return '';
  }
}
