import { createApiDocuments } from './api-documents';

/** What `npm run docs` writes, by path from the project's root. A test compares it with what is there. */
export function documentFiles(): ReadonlyMap<string, string> {
  const { openApiJson, referenceMarkdown, referenceHtml } = createApiDocuments();
  return new Map([
    ['docs/openapi.json', openApiJson],
    ['docs/api-reference.md', referenceMarkdown],
    ['docs/api-reference.html', referenceHtml],
  ]);
}
