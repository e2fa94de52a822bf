import { isJsonObject, type JsonObject, type JsonValue } from '@gateway/public-api';
import { createApiDocuments } from './api-documents';

const { openApi } = createApiDocuments();

/** A sentence of at least nine characters. */
const MEANING = /\S.{8,}[.?]$/s;

/** Every member of every schema below this value, with its path and description. */
function membersBelow(value: JsonValue, at: string): (readonly [at: string, meaning: string])[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => membersBelow(one, `${at}[${index}]`));
  if (!isJsonObject(value)) return [];
  const { properties } = value;
  const own = isJsonObject(properties) ? Object.entries(properties) : [];
  return [
    ...own.map(([name, member]) => [`${at}.${name}`, meaningOf(member)] as const),
    ...Object.entries(value)
      // Examples are data; their schemas describe them.
      .filter(([name]) => name !== 'example' && name !== 'examples' && !name.startsWith('x-'))
      .flatMap(([name, inner]) => membersBelow(inner, name === 'properties' ? at : `${at}.${name}`)),
  ];
}

/** Its own description, or that of the referenced schema. */
function meaningOf(member: JsonValue): string {
  if (!isJsonObject(member)) return '';
  const { description, $ref: pointer } = member;
  if (typeof description === 'string') return description;
  if (typeof pointer !== 'string') return '';
  const named = pointer
    .split('/')
    .slice(1)
    .reduce<JsonValue>((inner, name) => (isJsonObject(inner) ? (inner[name] ?? null) : null), openApi);
  return meaningOf(named);
}

const meaningless = (members: readonly (readonly [string, string])[]) =>
  members.filter(([, meaning]) => !MEANING.test(meaning)).map(([at]) => at);

it('every member of every request, response and error has a description', () => {
  const members = membersBelow(openApi, '');
  expect(members.length).toBeGreaterThan(300);
  expect(meaningless(members)).toEqual([]);
});

it('every parameter and every header has a description', () => {
  const { headers } = openApi['components'] as { headers: JsonObject };
  const parameters = Object.entries(openApi['paths'] as JsonObject).flatMap(([path, methods]) =>
    Object.values(methods as JsonObject).flatMap((operation) =>
      (((operation as JsonObject)['parameters'] as JsonObject[] | undefined) ?? []).map(
        (parameter) => [`${path} ${String(parameter['name'])}`, meaningOf(parameter)] as const,
      ),
    ),
  );
  expect(parameters.length).toBeGreaterThan(4);
  expect(meaningless(parameters)).toEqual([]);
  expect(meaningless(Object.entries(headers).map(([name, header]) => [name, meaningOf(header)]))).toEqual([]);
});

it('every optional parameter has a documented default', () => {
  const optionalParameters = Object.values(openApi['paths'] as JsonObject)
    .flatMap((methods) => Object.values(methods as JsonObject))
    .flatMap((operation) => ((operation as JsonObject)['parameters'] as JsonObject[] | undefined) ?? [])
    .filter(({ required }) => required !== true)
    .map((parameter) => [String(parameter['name']), meaningOf(parameter)] as const);
  expect(optionalParameters.filter(([, meaning]) => !meaning.includes('Default: '))).toEqual([]);
});

it.each([
  [
    /(^|\.)(prompt|completion|total|reasoning|cached|tokens_|native_tokens)[a-z_]*tokens?$|_tokens$|context_length$/,
    /token/i,
  ],
  [/(_cost|\.cost|total_credits|balance|reserved|available)$/, /dollar/i],
  [/(latency|generation_time)$/, /millisecond/i],
  [/\.created$/, /second/i],
])('amounts like %s have a unit', (name, unit) => {
  const amounts = membersBelow(openApi, '').filter(([at]) => name.test(at));
  expect(amounts.length).toBeGreaterThan(1);
  expect(amounts.filter(([, meaning]) => !unit.test(meaning)).map(([at]) => at)).toEqual([]);
});
