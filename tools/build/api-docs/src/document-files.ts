import type { JsonValue } from '@gateway/public-api';
import { createApiDocuments } from './api-documents';
import { createDashboardDocument } from './dashboard/dashboard-document';
import { prettyJson } from './pretty-json';

/** What `npm run docs` writes, by path from the project's root. A test compares it with what is there. */
export function documentFiles(): ReadonlyMap<string, string> {
  const { openApiJson } = createApiDocuments();
  return new Map([
    ['docs/openapi.json', openApiJson],
    ['docs/dashboard-openapi.json', `${prettyJson(createDashboardDocument() as JsonValue)}\n`],
  ]);
}
