import { isJsonObject, type JsonObject } from '@gateway/public-api';
import { type Block, code, heading, paragraph, table } from './blocks';
import { at, members, textAt } from './document-reader';
import { prettyJson } from './pretty-json';
import { memberRows, type Resolve } from './schema-table';

/** Characters of one text that a request is shown with; images and long conversations are cut. */
const MAX_SHOWN_TEXT = 80;

const METADATA = 'metadata.';

/** Every code: when it comes, what to do, and its examples as they go over the wire. */
export function errorCodeBlocks(
  examples: readonly (readonly [string, JsonObject])[],
  schemaOf: (code: string) => JsonObject,
  resolve: Resolve,
): Block[] {
  const codes = [...new Set(examples.map(([, example]) => textAt(example, 'x-code')))];
  return codes.flatMap((name) => {
    const own = examples.map(([, example]) => example).filter((one) => textAt(one, 'x-code') === name);
    const [first] = own;
    if (!first) return [];
    const { error } = at(schemaOf(name), 'properties');
    const metadata = memberRows(error as JsonObject, resolve)
      .filter(([path]) => path.startsWith(`\`${METADATA}`))
      .map(([path, ...rest]) => [path.replace(METADATA, ''), ...rest]);
    const type = textAt(at(first, 'value', 'error'), 'type');
    return [
      heading(3, name),
      paragraph(
        `${String(first['x-status'])} \`${type}\`. ${textAt(first, 'description')} ${textAt(first, 'x-advice')}`,
      ),
      ...(metadata.length === 0 ? [] : [table(['In `metadata`', 'Type', 'Meaning'], metadata)]),
      ...own.flatMap(exampleBlocks),
    ];
  });
}

function exampleBlocks(example: JsonObject): Block[] {
  const request = example['x-request'];
  return [
    paragraph(textAt(example, 'summary')),
    ...(isJsonObject(request) ? [code('http', requestText(request))] : []),
    code('http', answerText(example)),
  ];
}

function requestText(request: JsonObject): string {
  const headers = Object.entries(isJsonObject(request['headers']) ? request['headers'] : {});
  const body = request['body'];
  return [
    `${textAt(request, 'method')} ${textAt(request, 'path')}`,
    ...headers.map(([name, value]) => `${name}: ${String(value)}`),
    ...(isJsonObject(body) ? ['', prettyJson(shortened(body))] : []),
    ...(typeof body === 'string' ? ['', body] : []),
  ].join('\n');
}

function answerText(example: JsonObject): string {
  const headers = members({ headers: example['x-headers'] ?? {} })[0]?.[1] ?? {};
  return [
    `HTTP/1.1 ${String(example['x-status'])}`,
    'content-type: application/json',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`),
    '',
    prettyJson(at(example, 'value')),
  ].join('\n');
}

function shortened(body: JsonObject): JsonObject {
  const text = JSON.stringify(body, (_name, value: unknown) =>
    typeof value === 'string' && value.length > MAX_SHOWN_TEXT ? `${value.slice(0, 40)}…` : value,
  );
  return JSON.parse(text) as JsonObject;
}
