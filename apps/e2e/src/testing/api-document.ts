import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readApiDocument, type SeenAnswer } from '@gateway/test-support';

export const openApiFile = path.resolve(__dirname, '../../../../docs/reference/openapi.json');

/** The committed OpenAPI document, as the judge of real answers. */
export const apiDocument = readApiDocument(JSON.parse(readFileSync(openApiFile, 'utf8')));

/** Sends a request as fetch does, and keeps what came back whole. */
export async function ask(
  baseUrl: string,
  apiKey: string,
  line: `${'GET' | 'POST'} /v1/${string}`,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<SeenAnswer> {
  const [method = '', target = ''] = line.split(' ');
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
