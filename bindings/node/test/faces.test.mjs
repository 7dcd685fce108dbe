// What is written by hand about the library and the errors is what there is.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

import ts from 'typescript';

import * as synod from '@synod/client';

const here = join(import.meta.dirname, '..');
const library = createRequire(import.meta.url)('../dist/synod.node');

/** The interfaces of `native.cts`, each with the names of its members. */
function faces() {
  const text = readFileSync(join(here, 'ts/native.cts'), 'utf8');
  const source = ts.createSourceFile('native.cts', text, ts.ScriptTarget.Latest);
  const interfaces = source.statements.filter(ts.isInterfaceDeclaration);
  const members = ({ members }) => members.map((member) => member.name.getText(source)).sort();
  return new Map(interfaces.map((face) => [face.name.text, members(face)]));
}

test('the faces of the native classes have the members that the library has, and no others', () => {
  const written = faces();
  const classes = Object.entries(library).filter(([, value]) => value.prototype && /^[A-Z]/.test(value.name));
  assert.ok(classes.length > 10, 'the library exports its classes');
  for (const [name, made] of classes) {
    const own = Object.getOwnPropertyNames(made.prototype).filter((member) => member !== 'constructor');
    assert.deepEqual(written.get(name === 'CallToken' ? name : `Native${name}`), own.sort(), name);
  }
  for (const name of written.get('Native')) assert.ok(name in library, name);
});

test('the table of errors in the README has every class with its code, and no others', () => {
  const readme = readFileSync(join(here, 'README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| `(\w+Error)` \| `(\w+)` \|/gm)].map(([, name, code]) => [name, code]);
  const classes = Object.keys(synod).filter((name) => synod[name].prototype instanceof synod.SynodError);
  assert.deepEqual(rows.map(([name]) => name).sort(), classes.sort());
  for (const [name, code] of rows) {
    const words = code.split('_').map((word) => word[0] + word.slice(1).toLowerCase());
    assert.equal(name, `${words.join('')}Error`);
  }
});
