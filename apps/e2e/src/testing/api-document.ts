import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readApiDocument, type ReceivedResponse } from '@gateway/test-support';

export const openApiFile = path.resolve(__dirname, '../../../../docs/reference/openapi.json');

/** The committed OpenAPI document, to validate real responses against. */
export const apiDocument = readApiDocument(JSON.parse(readFileSync(openApiFile, 'utf8')));

/** The example request of an endpoint in the last release. */
export function releasedExampleOf(endpoint: string): object {
  const file = path.resolve(__dirname, '../../../../tools/build/api-docs/released.json');
  const { documents } = JSON.parse(readFileSync(file, 'utf8')) as {
    documents: Record<string, { paths: Record<string, { post: { requestBody: RequestBody } }> }>;
  };
  const operation = documents['openapi.json']?.paths[endpoint];
  if (!operation) throw new Error(`the last release has no ${endpoint}`);
  return operation.post.requestBody.content['application/json'].example;
}

interface RequestBody {
  readonly content: { readonly 'application/json': { readonly example: object } };
}

/** Sends a request and returns the full response. */
export async function sendRequest(
  baseUrl: string,
  apiKey: string,
  operation: `${'GET' | 'POST'} /v1/${string}`,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<ReceivedResponse> {
  const [method = '', target = ''] = operation.split(' ');
  const response = await fetch(new URL(target, baseUrl), {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return {
    method,
    path: target,
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
