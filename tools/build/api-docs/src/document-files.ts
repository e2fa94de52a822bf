import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonValue } from '@gateway/public-api';
import { createApiDocuments } from './api-documents';
import { createDashboardDocument } from './dashboard/dashboard-document';
import { prettyJson } from './pretty-json';
import { configurationReference } from './reference/configuration-page';
import { dashboardErrorsReference } from './reference/dashboard-errors';
import { endpointOwnersReference } from './reference/endpoint-owners';
import { checkOrderReference, errorCodesReference } from './reference/errors-page';
import { fidelityReference } from './reference/formats-page';
import { alertsReference, metricsReference } from './reference/metrics-page';

const REFERENCE = 'docs/reference';

/**
 * The files that `npm run docs` writes, by path from the project's root. Of a page in Markdown only the parts
 * between `<!-- generated: NAME -->` and `<!-- end of NAME -->` are replaced.
 */
export function documentFiles(root: string): ReadonlyMap<string, string> {
  const { openApiJson } = createApiDocuments();
  const page = (name: string, parts: Readonly<Record<string, string>>): readonly [string, string] => {
    const file = `${REFERENCE}/${name}`;
    return [file, withGenerated(readFileSync(path.join(root, file), 'utf8'), parts)];
  };
  return new Map([
    [`${REFERENCE}/openapi.json`, openApiJson],
    [`${REFERENCE}/dashboard-openapi.json`, `${prettyJson(createDashboardDocument() as JsonValue)}\n`],
    page('configuration.md', { settings: configurationReference() }),
    page('errors.md', { order: checkOrderReference(), codes: errorCodesReference() }),
    page('formats.md', {
      messages: fidelityReference('messages'),
      responses: fidelityReference('responses'),
      embeddings: fidelityReference('embeddings'),
    }),
    page('dashboard-api.md', { errors: dashboardErrorsReference() }),
    page('service-access.md', { endpoints: endpointOwnersReference() }),
    page('metrics-and-alerts.md', { metrics: metricsReference(root), alerts: alertsReference(root) }),
  ]);
}

function withGenerated(text: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((page, [name, part]) => {
    const [start, end] = [`<!-- generated: ${name} -->`, `<!-- end of ${name} -->`];
    const [before, rest = ''] = page.split(start);
    const after = rest.split(end)[1];
    if (before === undefined || after === undefined) throw new Error(`a page has no part '${name}'`);
    return `${before}${start}\n\n${part}\n\n${end}${after}`;
  }, text);
}
