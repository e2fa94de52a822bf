import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readApiDocument, type ReceivedResponse } from '@gateway/test-support';

export const openApiFile = path.resolve(__dirname, '../../../../docs/reference/openapi.json');

/** The committed OpenAPI document, to validate real responses against. */
export const apiDocument = readApiDocument(JSON.parse(readFileSync(openApiFile, 'utf8')));

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
