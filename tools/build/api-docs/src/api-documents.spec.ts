import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { errorCodes, errorTable } from '@gateway/errors';
import { readApiDocument } from '@gateway/test-support';
import { endpoints, type JsonObject } from '@gateway/public-api';
import { errorFacts } from './openapi/error-facts';
import { errorSchemaName } from './openapi/error-schemas';
import { headers } from './openapi/headers';
import { responseExamples } from './examples/response-examples';
import { errorExamples } from './examples/error-examples';
import { createApiDocuments } from './api-documents';

const documents = createApiDocuments();
const document = readApiDocument(documents.openApi);
const errors = errorExamples();

describe('the OpenAPI document', () => {
  it('has an example for every error code of the error table, and for no other', () => {
    expect([...new Set(errors.map(({ code }) => code))].sort()).toEqual([...errorCodes].sort());
    expect(errors.every(({ code, body }) => body.error.code === code)).toBe(true);
    expect(new Set(errors.map(({ name }) => name)).size).toBe(errors.length);
  });

  it.each(errors.map((error) => [error.name, error] as const))(
    'describes %s with exactly the members that are sent',
    (_, { code, body, headers: sent }) => {
      expect(document.problemsOfValue(errorSchemaName(code), body)).toEqual([]);
      expect(Object.keys(sent).filter((name) => !(name in headers))).toEqual([]);
    },
  );

  it('lists each code of an example at its endpoint', () => {
    for (const { code, request } of errors) {
      const endpoint = endpoints.find((one) => one.path === request?.path.split('?')[0]);
      expect([code, endpoint?.errors.includes(code) ?? code === 'route_not_found']).toEqual([code, true]);
    }
  });

  it('lists every code but route_not_found at an endpoint, once', () => {
    const placed = new Set(endpoints.flatMap((endpoint) => endpoint.errors));
    expect(errorCodes.filter((code) => !placed.has(code))).toEqual(['route_not_found']);
    for (const endpoint of endpoints) expect(new Set(endpoint.errors).size).toBe(endpoint.errors.length);
  });

  it('describes the responses of the views, member by member', () => {
    const { chatCompletion, message, messageTokens, response, models, credits, generation, usage } =
      responseExamples();
    expect([
      document.problemsOfValue('ChatCompletion', chatCompletion),
      document.problemsOfValue('Message', message),
      document.problemsOfValue('MessageTokens', messageTokens),
      document.problemsOfValue('Response', response),
      document.problemsOfValue('ModelList', models),
      document.problemsOfValue('Credits', credits),
      document.problemsOfValue('Generation', generation),
      document.problemsOfValue('UsageReport', usage),
    ]).toEqual([[], [], [], [], [], [], [], []]);
  });

  it('describes the events of a stream', () => {
    const response = {
      method: 'POST',
      path: '/v1/chat/completions',
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'req_1' },
      body: responseExamples().chatStream,
    };
    expect(document.problemsOf(response)).toEqual([]);
    expect(document.problemsOf({ ...response, body: 'data: {}\n\n' })).not.toEqual([]);
    expect(document.problemsOf({ ...response, body: 'data: {"id":1}\n\ndata: [DONE]\n\n' })).not.toEqual([]);
  });

  it('passes the recommended rules of a linter', () => {
    const problems = execFileSync(process.execPath, [path.resolve(__dirname, 'lint-document.mjs')], {
      input: documents.openApiJson,
      encoding: 'utf8',
    });
    // No operation returns route_not_found; its schema and example are documented anyway.
    expect(JSON.parse(problems)).toEqual([
      'no-unused-components warn #/components/schemas/RouteNotFoundError',
      'no-unused-components warn #/components/examples/route_not_found',
    ]);
  });

  it.each(errorCodes.map((code) => [code]))('documents when %s is sent, with an example', (code) => {
    const { examples } = documents.openApi['components'] as { examples: Record<string, JsonObject> };
    const shown = Object.values(examples).filter((example) => example['x-code'] === code);
    expect(shown.length).toBeGreaterThan(0);
    for (const example of shown) {
      expect(example).toMatchObject({
        description: errorFacts[code].when,
        'x-status': errorTable[code].httpStatus,
        value: { error: { code } },
      });
    }
  });
});
