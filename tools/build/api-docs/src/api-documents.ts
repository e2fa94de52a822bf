import { type JsonObject } from '@gateway/public-api';
import { answerExamples } from './examples/answer-examples';
import { errorExamples } from './examples/error-examples';
import { openApiDocument } from './openapi/document';
import { apiReference, htmlOf, markdownOf, prettyJson } from './reference';

/** The documentation of the public API, made from what validates and answers. */
export interface ApiDocuments {
  /** OpenAPI 3.1. */
  readonly openApi: JsonObject;
  /** The same as text, as it is committed and served. */
  readonly openApiJson: string;
  readonly referenceMarkdown: string;
  /** One page that needs nothing from elsewhere. */
  readonly referenceHtml: string;
}

const PREFACE =
  'Made by `npm run docs` from the schemas that validate and the errors that are sent; do not edit. The guide is [api.md](api.md).';

export function createApiDocuments(): ApiDocuments {
  const openApi = openApiDocument({ answers: answerExamples(), errors: errorExamples() });
  const page = apiReference(openApi);
  const [title, ...content] = page;
  return {
    openApi,
    openApiJson: `${prettyJson(openApi)}\n`,
    referenceMarkdown: markdownOf([
      ...(title ? [title] : []),
      { kind: 'paragraph', text: PREFACE },
      ...content,
    ]),
    referenceHtml: htmlOf('Inference Gateway: API reference', page),
  };
}
