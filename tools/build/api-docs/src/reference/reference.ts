import type { ErrorCode } from '@gateway/errors';
import type { JsonObject } from '@gateway/public-api';
import { errorSchemaName } from '../openapi/error-schemas';
import { type Block, heading, links, paragraph, table } from './blocks';
import { at, members, operationsOf, resolverOf, textAt } from './document-reader';
import { endpointBlocks } from './endpoint-blocks';
import { errorCodeBlocks } from './error-blocks';

/** The API reference as a page, from the OpenAPI document alone. */
export function apiReference(document: JsonObject): Block[] {
  const resolve = resolverOf(document);
  const operations = operationsOf(document);
  const info = at(document, 'info');
  const examples = members(at(document, 'components', 'examples'));
  const schemaOf = (name: string) =>
    at(document, 'components', 'schemas', errorSchemaName(name as ErrorCode));
  const codes = [...new Set(examples.map(([, example]) => textAt(example, 'x-code')))];

  return [
    heading(1, 'API reference'),
    ...textAt(info, 'description').split('\n\n').map(paragraph),
    paragraph(
      textAt(at(document, 'components', 'securitySchemes', 'apiKey'), 'description').split('. The roles')[0] +
        '.',
    ),
    table(
      ['Endpoint', 'Scope', 'Purpose'],
      operations.map(({ method, path, definition }) => [
        `\`${method} ${path}\``,
        scopeOf(definition),
        textAt(definition, 'summary'),
      ]),
    ),
    ...operations.flatMap((operation) => endpointBlocks(operation, resolve)),
    heading(2, 'Error codes'),
    links(`${codes.length} codes:`, codes),
    ...errorCodeBlocks(examples, schemaOf, resolve),
  ];
}

function scopeOf({ security }: JsonObject): string {
  const [requirement] = Array.isArray(security) ? security : [];
  const [scope] = Object.values((requirement ?? {}) as JsonObject).flat();
  return typeof scope === 'string' ? `\`${scope}\`` : 'any valid key';
}
