import fc from 'fast-check';
import { isRefusal } from '@gateway/errors';
import { fuzzRuns } from '@gateway/test-support';
import { canonicalBodySha256Input } from './canonical-json';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, parseJsonBody } from './parse-json-body';
import { measureJson } from './measure-json';
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
  it.each([
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
  ])('returns invalid_json for %s', (_name, body) => {
    expect(codeOf(body)).toBe('invalid_json');
  });

  it('returns invalid_json for bytes that are not UTF-8', () => {
    expect(codeOf(Buffer.from('{"a":"\xff"}', 'latin1'))).toBe('invalid_json');
    expect(codeOf(Buffer.from('{"a":1}', 'utf16le'))).toBe('invalid_json');
    expect(codeOf(Buffer.from('7b2261223a22eda080227d', 'hex'))).toBe('invalid_json');
  });

  it('does not quote the body in its message', () => {
    const result = parseJsonBody(Buffer.from('{"secret-word'));
    expect(JSON.stringify(result)).not.toContain('secret');
  });

  it('accepts a byte order mark', () => {
    expect(codeOf('\ufeff{}')).toBe('parsed');
  });

  it('uses the last of duplicate names', () => {
    expect(parsed('{"a":1,"a":2}')).toEqual({ a: 2 });
  });

  it('treats __proto__ as an ordinary name', () => {
    const value = parsed('{"__proto__":{"polluted":true}}');
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('refuses nesting beyond the limit as invalid_request', () => {
    const nested = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(codeOf(nested(MAX_JSON_DEPTH - 1))).toBe('parsed');
    expect(codeOf(nested(MAX_JSON_DEPTH))).toBe('invalid_request');
    expect(codeOf(nested(100_000))).toBe('invalid_request');
    expect(codeOf(`${'{"__proto__":'.repeat(200)}1${'}'.repeat(200)}`)).toBe('invalid_request');
  });
});

describe('parseJsonBody, before anything is parsed,', () => {
  const parse = jest.spyOn(JSON, 'parse');
  beforeEach(() => parse.mockClear());
  afterAll(() => parse.mockRestore());

  it.each([
    ['eight megabytes of empty arrays', `{"model":"x","messages":[${'[],'.repeat(2_800_000)}[]]}`],
    ['empty objects', `[${'{},'.repeat(MAX_JSON_VALUES)}{}]`],
    ['numbers', `{"a":[${'1,'.repeat(MAX_JSON_VALUES)}1]}`],
    [
      'millions of names',
      `{"metadata":{${Array.from({ length: 1_000_000 }, (_, name) => `"${name}":1`).join()}}}`,
    ],
    ['one repeated name', `{${'"a":1,'.repeat(MAX_JSON_VALUES)}"a":1}`],
    ['too many values with a truncated last one', `{"a":[${'1,'.repeat(MAX_JSON_VALUES)}`],
    ['brackets that are never closed', '['.repeat(1_000)],
    ['brackets of both kinds that are never closed', '[{"a":'.repeat(1_000)],
  ])('refuses %s as invalid_request', (_name, body) => {
    expect(codeOf(body)).toBe('invalid_request');
    expect(parse).not.toHaveBeenCalled();
  });

  it('counts exactly up to the limit', () => {
    const list = (values: number): string => `{"a":[${Array(values).fill('1').join()}]}`;
    // The object, the array and a comma between each pair of values.
    expect(codeOf(list(MAX_JSON_VALUES - 1))).toBe('parsed');
    expect(codeOf(list(MAX_JSON_VALUES))).toBe('invalid_request');
  });

  it('does not count characters in strings, with any escapes', () => {
    const text = '[{,'.repeat(MAX_JSON_VALUES);
    for (const end of ['', '\\"', '\\\\', '\\\\\\"', '\\u0022[', '\u4e00']) {
      expect(codeOf(`{"a":"${text}${end}"}`)).toBe('parsed');
      expect(codeOf(`{"${text}${end}":1}`)).toBe('parsed');
    }
    expect(codeOf(`{"a":"\\\\",${'"b":1,'.repeat(MAX_JSON_VALUES)}"c":"\\""}`)).toBe('invalid_request');
  });
});

describe('measureJson', () => {
  /** The values of arrays and objects; 1 for an empty one. */
  function valuesIn(value: unknown): number {
    if (typeof value !== 'object' || value === null) return 0;
    const values = Object.values(value);
    return values.reduce<number>((sum, each) => sum + valuesIn(each), Math.max(1, values.length));
  }
  function depthOf(value: unknown): number {
    if (typeof value !== 'object' || value === null) return 0;
    return 1 + Math.max(0, ...Object.values(value).map(depthOf));
  }

  it('counts the values and levels of any JSON exactly', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const measured = measureJson(Buffer.from(JSON.stringify(value, null, space)));
        expect(measured.depth).toBe(depthOf(JSON.parse(JSON.stringify(value))));
        expect(measured.values).toBe(valuesIn(JSON.parse(JSON.stringify(value))));
      }),
      fuzzRuns(),
    );
  });
});

describe('canonicalBodySha256Input', () => {
  it('is independent of the order of names, white space and escapes', () => {
    expect(canonicalBodySha256Input(parsed('{ "b": [1.0, {"y":1,"x":2}], "a": "\\u0041" }'))).toBe(
      canonicalBodySha256Input(parsed('{"a":"A","b":[1,{"x":2,"y":1}]}')),
    );
  });

  it.each([
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":null}', '{}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":{}}', '{"a":[]}'],
    ['{"__proto__":1}', '{"__proto__":2}'],
  ])('distinguishes %s and %s', (one, other) => {
    expect(canonicalBodySha256Input(parsed(one))).not.toBe(canonicalBodySha256Input(parsed(other)));
  });

  it('is JSON that parses to the same value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        const value = JSON.parse(JSON.stringify(body)) as JsonObject;
        expect(JSON.parse(canonicalBodySha256Input(value))).toEqual(value);
      }),
      fuzzRuns(),
    );
  });
});
