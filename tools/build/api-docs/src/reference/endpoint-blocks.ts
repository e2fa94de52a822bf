import { isJsonObject, type JsonObject, type JsonValue } from '@gateway/public-api';
import { type Block, code, heading, links, paragraph, table } from './blocks';
import { at, listAt, members, type Operation, textAt } from './document-reader';
import { prettyJson } from './pretty-json';
import { memberRows, type Resolve, typeOf } from './schema-table';

/** One endpoint: what it takes, what it answers, and how it can fail. */
export function endpointBlocks({ method, path, definition }: Operation, resolve: Resolve): Block[] {
  return [
    heading(2, `${method} ${path}`),
    paragraph(`${textAt(definition, 'summary')}. ${textAt(definition, 'description')}`),
    ...parameterBlocks(listAt(definition, 'parameters'), resolve),
    ...requestBlocks(definition, resolve),
    ...answerBlocks(definition, resolve),
    ...errorBlocks(definition, resolve),
  ];
}

function parameterBlocks(parameters: readonly JsonObject[], resolve: Resolve): Block[] {
  if (parameters.length === 0) return [];
  const rows = parameters.map((parameter) => [
    `\`${textAt(parameter, 'name')}\``,
    textAt(parameter, 'in'),
    typeOf(at(parameter, 'schema'), resolve) + (parameter['required'] === true ? '' : ', optional'),
    textAt(parameter, 'description'),
  ]);
  return [heading(3, 'Parameters'), table(['Name', 'In', 'Type', 'Meaning'], rows)];
}

function requestBlocks(definition: JsonObject, resolve: Resolve): Block[] {
  if (!isJsonObject(definition['requestBody'])) return [];
  const { schema, example } = at(definition, 'requestBody', 'content', 'application/json');
  return [
    heading(3, 'Body'),
    ...jsonExample(example),
    table(['Field', 'Type', 'Meaning'], memberRows(schema as JsonObject, resolve)),
  ];
}

function answerBlocks(definition: JsonObject, resolve: Resolve): Block[] {
  const answer = at(definition, 'responses', '200');
  const { schema, example } = at(answer, 'content', 'application/json');
  const headerRows = members(answer['headers']).map(([name, header]) => [
    `\`${name}\``,
    textAt(resolve(textAt(header, '$ref')), 'description'),
  ]);
  return [
    heading(3, 'Answer'),
    paragraph(textAt(answer, 'description')),
    ...jsonExample(example),
    table(['Member', 'Type', 'Meaning'], memberRows(schema as JsonObject, resolve)),
    ...streamBlocks(at(answer, 'content')['text/event-stream'], resolve),
    table(['Header', 'Meaning'], headerRows),
  ];
}

function streamBlocks(stream: JsonValue | undefined, resolve: Resolve): Block[] {
  if (!isJsonObject(stream)) return [];
  const [chunk] = listAt(at(stream, 'schema', 'properties', 'data'), 'anyOf');
  return [
    paragraph('With `stream` and `stream_options.include_usage`:'),
    code('text', textAt(stream, 'x-example')),
    paragraph('The data of each event but the last, `[DONE]`:'),
    table(['Member', 'Type', 'Meaning'], memberRows(at(chunk ?? {}, 'contentSchema'), resolve)),
  ];
}

function errorBlocks(definition: JsonObject, resolve: Resolve): Block[] {
  const ofErrors = members(definition['responses']).filter(([status]) => status !== '200');
  return [
    heading(3, 'Errors'),
    ...ofErrors.map(([status, response]) => {
      const examples = members(at(response, 'content', 'application/json')['examples']);
      const codes = examples.map(([, example]) => textAt(resolve(textAt(example, '$ref')), 'x-code'));
      return links(`${status}:`, [...new Set(codes)]);
    }),
  ];
}

function jsonExample(example: JsonValue | undefined): Block[] {
  return example === undefined ? [] : [code('json', prettyJson(example))];
}
