import type { JsonObject } from '@gateway/public-api';
import { responseExamples } from './examples/response-examples';
import { errorExamples } from './examples/error-examples';
import { openApiDocument } from './openapi/document';
import { prettyJson } from './pretty-json';

/** The OpenAPI document of the public API, generated from the code that validates requests and renders responses. */
export interface ApiDocuments {
  /** OpenAPI 3.1. */
  readonly openApi: JsonObject;
  /** The same as text, as committed and served. */
  readonly openApiJson: string;
}

export function createApiDocuments(): ApiDocuments {
  const openApi = openApiDocument({ responses: responseExamples(), errors: errorExamples() });
  return { openApi, openApiJson: `${prettyJson(openApi)}\n` };
}
