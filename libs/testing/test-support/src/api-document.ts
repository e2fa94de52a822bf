import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import { eventDataOf } from './event-stream';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

/** A response as a client receives it. */
export interface ReceivedResponse {
  readonly method: string;
  /** With or without a query string. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ApiDocument {
  /** Whether the document contains this operation. */
  describes(method: string, path: string): boolean;
  /** Differences between a response and the document; empty if the response conforms. */
  problemsOf(received: ReceivedResponse): string[];
  /** As `problemsOf`, for a value and the name of its schema. */
  problemsOfValue(schemaName: string, value: unknown): string[];
}

/** Headers of HTTP or the server, which the document does not list. */
const COMMON_HEADERS = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'strict-transport-security',
  'transfer-encoding',
  'x-accel-buffering',
  'x-content-type-options',
]);

/**
 * Reads an OpenAPI document strictly: an undocumented member of a response is a
 * problem, and so is a missing required one.
 */
export function readApiDocument(document: unknown): ApiDocument {
  const root = document as JsonObject;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/);
  ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/);
  ajv.addSchema({ $id: 'document', components: closed(at(root, 'components')) });
  const compiled = new Map<string, ValidateFunction>();

  function validate(schema: JsonObject, value: unknown): string[] {
    const absolute = JSON.parse(
      JSON.stringify(closed(schema)).replaceAll('"#/components/', '"document#/components/'),
    ) as JsonObject;
    const key = JSON.stringify(absolute);
    let check = compiled.get(key);
    if (!check) compiled.set(key, (check = ajv.compile(absolute)));
    if (check(value)) return [];
    const problems = (check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
    );
    return [...new Set(problems)];
  }

  function operationOf(method: string, path: string): JsonObject | undefined {
    return find(root, 'paths', path.split('?')[0] ?? '', method.toLowerCase());
  }

  function problemsOf(received: ReceivedResponse): string[] {
    const path = received.path.split('?')[0] ?? '';
    const operation = operationOf(received.method, received.path);
    if (!operation) return [`${received.method} ${path} is not documented`];
    const response = find(operation, 'responses', String(received.status));
    if (!response) return [`${received.method} ${path} has no documented response ${received.status}`];
    const mediaType = (received.headers['content-type'] ?? '').split(';')[0] ?? '';
    const content = find(response, 'content', mediaType);
    if (!content) return [`${received.status} has no documented content of type ${mediaType}`];
    return [
      ...headerProblems(response, received.headers),
      ...(mediaType === 'text/event-stream'
        ? eventProblems(content, received.body)
        : jsonProblems(at(content, 'schema'), received.body)),
    ].map((problem) => `${received.method} ${path} ${received.status}: ${problem}`);
  }

  function headerProblems(response: JsonObject, sent: Readonly<Record<string, string>>): string[] {
    const described = at(response, 'headers');
    const unknown = Object.keys(sent).filter((name) => !COMMON_HEADERS.has(name) && !(name in described));
    const problems = Object.keys(described).flatMap((name) => {
      const header = at(root, 'components', 'headers', name);
      const value = sent[name];
      if (value === undefined) return header['required'] === true ? [`the header ${name} is missing`] : [];
      const schema = at(header, 'schema');
      return validate(schema, schema['type'] === 'integer' ? Number(value) : value).map(
        (problem) => `the header ${name}: ${problem}`,
      );
    });
    return [...unknown.map((name) => `the header ${name} is not documented`), ...problems];
  }

  function eventProblems(content: JsonObject, body: string): string[] {
    const described = at(content, 'schema', 'properties', 'data');
    const data = eventDataOf(body);
    const { anyOf } = described;
    // Only the chunks of chat completions have a schema, and a last event that is no JSON.
    if (anyOf === undefined) return data.flatMap((text) => jsonProblems({}, text));
    if (data.pop() !== '[DONE]') return ['the stream does not end with [DONE]'];
    const [chunk] = anyOf as JsonObject[];
    return data.flatMap((text) => jsonProblems(at(chunk ?? {}, 'contentSchema'), text));
  }

  function jsonProblems(schema: JsonObject, text: string): string[] {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return [`not JSON: ${text.slice(0, 100)}`];
    }
    return validate(schema, value);
  }

  return {
    describes: (method, path) => operationOf(method, path) !== undefined,
    problemsOf,
    problemsOfValue: (name, value) => validate({ $ref: `#/components/schemas/${name}` }, value),
  };
}

/** A copy in which objects allow only the listed members. */
function closed<Value extends Json>(value: Value): Value {
  if (Array.isArray(value)) return value.map((item) => closed(item)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]): [string, Json] => [name, closed(member)]),
  );
  const isOpen = typeof copy['properties'] === 'object' && copy['additionalProperties'] === undefined;
  return (isOpen && copy['type'] === 'object' ? { ...copy, additionalProperties: false } : copy) as Value;
}

function find(object: JsonObject, ...names: readonly string[]): JsonObject | undefined {
  let found: Json | undefined = object;
  for (const name of names) {
    if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined;
    found = found[name];
  }
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? found : undefined;
}

function at(object: JsonObject, ...names: readonly string[]): JsonObject {
  const found = find(object, ...names);
  if (!found) throw new Error(`the document has no ${names.join(' → ')}`);
  return found;
}
