import { isJsonObject, type JsonObject, type JsonValue } from '@gateway/public-api';
import { createApiDocuments } from './api-documents';

const { openApi } = createApiDocuments();

/** A sentence; shorter ones explain nothing. */
const MEANING = /\S.{8,}[.?]$/s;

/** Every member of every schema below this value, with where it is and what is said of it. */
function membersBelow(value: JsonValue, at: string): (readonly [at: string, meaning: string])[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => membersBelow(one, `${at}[${index}]`));
  if (!isJsonObject(value)) return [];
  const { properties } = value;
  const own = isJsonObject(properties) ? Object.entries(properties) : [];
  return [
    ...own.map(([name, member]) => [`${at}.${name}`, meaningOf(member)] as const),
    ...Object.entries(value)
      // Examples are data: what they have is described where their schema is.
      .filter(([name]) => name !== 'example' && name !== 'examples' && !name.startsWith('x-'))
      .flatMap(([name, inner]) => membersBelow(inner, name === 'properties' ? at : `${at}.${name}`)),
  ];
}

/** Its own words, or those of the schema that it names. */
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

it('every member of every request, answer and error says what it means', () => {
  const members = membersBelow(openApi, '');
  expect(members.length).toBeGreaterThan(300);
  expect(meaningless(members)).toEqual([]);
});

it('every parameter and every header says what it means', () => {
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

it('whatever is optional in a request says what holds without it', () => {
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
])('amounts like %s say their unit', (name, unit) => {
  const amounts = membersBelow(openApi, '').filter(([at]) => name.test(at));
  expect(amounts.length).toBeGreaterThan(1);
  expect(amounts.filter(([, meaning]) => !unit.test(meaning)).map(([at]) => at)).toEqual([]);
});
