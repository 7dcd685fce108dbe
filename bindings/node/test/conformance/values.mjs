// What cases write in place of values, and what they expect of them: see tests/conformance/README.md.

import assert from 'node:assert/strict';

import { schema } from '../../dist/generated/schema.cjs';

/** Whether a value is a mapping. */
const isMapping = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The only key of a mapping, if it has one alone that begins with `$`. */
function special(value) {
  if (!isMapping(value)) return undefined;
  const keys = Object.keys(value);
  return keys.length === 1 && keys[0].startsWith('$') ? keys[0] : undefined;
}

/** A value with what was saved in its places. */
export function filled(value, saved) {
  if (typeof value === 'string') return filledText(value, saved);
  if (Array.isArray(value)) return value.map((item) => filled(item, saved));
  if (!isMapping(value)) return value;
  switch (special(value)) {
    case '$base64':
      return Buffer.from(filled(value.$base64, saved)).toString('base64');
    case '$repeat':
      return filled(value.$repeat[0], saved).repeat(value.$repeat[1]);
    default:
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [filledText(key, saved), filled(item, saved)]));
  }
}

const PLACE = /\$\{([A-Za-z_][A-Za-z0-9_]*)([+-]1)?\}/g;

function filledText(text, saved) {
  const place = (_, name, step) => {
    assert.ok(saved.has(name), `nothing was saved as \`${name}\``);
    const value = saved.get(name);
    return step === undefined ? value : (BigInt(value) + BigInt(step)).toString();
  };
  const whole = new RegExp(`^${PLACE.source}$`).exec(text);
  return whole === null ? text.replace(PLACE, (...found) => String(place(...found))) : place(...whole);
}

/** What is wrong with a value, by the path of the fault; `undefined` if it is as expected. */
export function mismatch(expected, value, path = 'the answer') {
  const fault = () => `${path} is ${JSON.stringify(value)}, and ${JSON.stringify(expected)} was expected`;
  const word = special(expected);
  if (word !== undefined) return matches(word, expected[word], value, path) ? undefined : fault();
  if (value === undefined || value === null) return isDefault(expected) ? undefined : fault();
  if (Array.isArray(expected)) {
    if (!Array.isArray(value) || value.length !== expected.length) return fault();
    return first(expected.map((item, index) => mismatch(item, value[index], `${path}[${index}]`)));
  }
  if (isMapping(expected)) {
    if (!isMapping(value)) return fault();
    return first(Object.entries(expected).map(([key, item]) => mismatch(item, value[key], `${path}.${key}`)));
  }
  return expected === value || sameNumber(expected, value) ? undefined : fault();
}

const first = (faults) => faults.find((fault) => fault !== undefined);

function matches(word, expected, value, path) {
  const isThere = value !== undefined && value !== null;
  switch (word) {
    case '$any':
      return isThere;
    case '$absent':
      return !isThere;
    case '$greater':
      return digits(value) !== undefined && digits(value) > digits(expected);
    case '$length':
      return (Array.isArray(value) ? value : isThere ? [] : []).length === expected;
    case '$contains':
      return expected.every((item) => (value ?? []).some((found) => mismatch(item, found, path) === undefined));
    case '$has':
      return typeof value === 'string' && value.includes(expected);
    case '$not':
      return mismatch(expected, value, path) !== undefined;
    default:
      throw new Error(`there is no matcher ${word}`);
  }
}

function isDefault(expected) {
  if (Array.isArray(expected)) return expected.length === 0;
  if (isMapping(expected)) return Object.keys(expected).length === 0;
  return [false, 0, '0', ''].includes(expected);
}

/** A number, or a text of decimal digits, as a number of any size. */
function digits(value) {
  if (typeof value === 'bigint' || Number.isInteger(value)) return BigInt(value);
  return typeof value === 'string' && /^-?[0-9]+$/.test(value) ? BigInt(value) : undefined;
}

function sameNumber(one, other) {
  const [left, right] = [digits(one), digits(other)];
  return left !== undefined && left === right;
}

/** The part of a value at a path: keys and indices with dots between them, or `.` for all of it. */
export function part(value, path) {
  if (path === '.') return value;
  const found = path.split('.').reduce((item, key) => item?.[key], value);
  assert.ok(found !== undefined && found !== null, `there is nothing at ${path} of ${JSON.stringify(value)}`);
  return found;
}

/**
 * What a program gives for a message of this JSON form: bytes and 64-bit numbers as JavaScript has them. What the message
 * has no field for stays as it is.
 */
export function typed(message, json) {
  if (!isMapping(json)) return json;
  const fields = schema[message] ?? {};
  return Object.fromEntries(Object.entries(json).map(([name, item]) => [name, typedField(fields[name], item)]));
}

function typedField(field, item) {
  if (field === undefined || item === null) return item;
  const [shape, kind] = field;
  if (shape === '*' && Array.isArray(item)) return item.map((each) => typedValue(kind, each));
  if (shape === '%' && isMapping(item)) {
    return Object.fromEntries(Object.entries(item).map(([key, each]) => [key, typedValue(kind, each)]));
  }
  return typedValue(kind, item);
}

function typedValue(kind, item) {
  if (kind === 'y') return new Uint8Array(Buffer.from(item, 'base64'));
  if (kind === 'l') return digits(item) ?? item;
  return typed(kind, item);
}

/** The JSON form of whatever a program was given. */
export function plain(value) {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  if (isMapping(value)) return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]));
  return value;
}
