import fc from 'fast-check';
import { isRefusal } from '@gateway/errors';
import { fuzzRuns } from '@gateway/testing';
import { canonicalBodySha256Input } from './canonical-json';
import { MAX_JSON_DEPTH, parseJsonBody } from './parse-json-body';
import type { JsonObject } from './json-value';

function codeOf(body: string | Buffer): string {
  const result = parseJsonBody(Buffer.from(body));
  return isRefusal(result) ? result.code : 'parsed';
}

function parsed(body: string): JsonObject {
  const result = parseJsonBody(Buffer.from(body));
  if (isRefusal(result)) throw new Error(result.message);
  return result.value;
}

describe('parseJsonBody', () => {
  test.each([
    ['an empty body', ''],
    ['white space', '  \n'],
    ['text', 'hello'],
    ['a cut object', '{"model":'],
    ['a trailing comma', '{"model":"x",}'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"{}"'],
    ['a number', '1'],
    ['NaN', '{"n":NaN}'],
    ['a control character in a string', '{"a":"\u0001"}'],
  ])('answers invalid_json for %s', (_name, body) => {
    expect(codeOf(body)).toBe('invalid_json');
  });

  test('answers invalid_json for bytes that are not UTF-8', () => {
    expect(codeOf(Buffer.from('{"a":"\xff"}', 'latin1'))).toBe('invalid_json');
    expect(codeOf(Buffer.from('{"a":1}', 'utf16le'))).toBe('invalid_json');
    expect(codeOf(Buffer.from('7b2261223a22eda080227d', 'hex'))).toBe('invalid_json');
  });

  test('does not quote the body in its message', () => {
    const result = parseJsonBody(Buffer.from('{"secret-word'));
    expect(JSON.stringify(result)).not.toContain('secret');
  });

  test('takes a byte order mark', () => {
    expect(codeOf('\ufeff{}')).toBe('parsed');
  });

  test('takes the last of duplicate names', () => {
    expect(parsed('{"a":1,"a":2}')).toEqual({ a: 2 });
  });

  test('keeps __proto__ as a name like any other', () => {
    const value = parsed('{"__proto__":{"polluted":true}}');
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('refuses nesting beyond the limit as invalid_request, at any depth that a parser takes', () => {
    const nested = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(codeOf(nested(MAX_JSON_DEPTH - 1))).toBe('parsed');
    expect(codeOf(nested(MAX_JSON_DEPTH))).toBe('invalid_request');
    expect(codeOf(nested(100_000))).toBe('invalid_request');
    expect(codeOf(`${'{"__proto__":'.repeat(200)}1${'}'.repeat(200)}`)).toBe('invalid_request');
  });
});

describe('canonicalBodySha256Input', () => {
  test('is the same whatever the order of names, white space and spelling', () => {
    expect(canonicalBodySha256Input(parsed('{ "b": [1.0, {"y":1,"x":2}], "a": "\\u0041" }'))).toBe(
      canonicalBodySha256Input(parsed('{"a":"A","b":[1,{"x":2,"y":1}]}')),
    );
  });

  test.each([
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":null}', '{}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":{}}', '{"a":[]}'],
    ['{"__proto__":1}', '{"__proto__":2}'],
  ])('tells %s from %s', (one, other) => {
    expect(canonicalBodySha256Input(parsed(one))).not.toBe(canonicalBodySha256Input(parsed(other)));
  });

  test('is JSON that parses to the same value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        const value = JSON.parse(JSON.stringify(body)) as JsonObject;
        expect(JSON.parse(canonicalBodySha256Input(value))).toEqual(value);
      }),
      fuzzRuns(),
    );
  });
});
