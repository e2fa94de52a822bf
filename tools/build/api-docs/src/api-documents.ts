import type { JsonObject } from '@gateway/public-api';
import { answerExamples } from './examples/answer-examples';
import { errorExamples } from './examples/error-examples';
import { openApiDocument } from './openapi/document';
import { prettyJson } from './pretty-json';

/** The documentation of the public API, made from the code that validates requests and renders responses. */
export interface ApiDocuments {
  /** OpenAPI 3.1. */
  readonly openApi: JsonObject;
  /** The same as text, as it is committed and served. */
  readonly openApiJson: string;
}

export function createApiDocuments(): ApiDocuments {
  const openApi = openApiDocument({ answers: answerExamples(), errors: errorExamples() });
  return { openApi, openApiJson: `${prettyJson(openApi)}\n` };
}
