const ENDPOINTS = [
  'POST, GET, DELETE /api/session',
  'GET, POST /api/organizations',
  'GET /api/organizations/{id}',
  'PUT /api/organizations/{id}/limits',
  'POST /api/organizations/{id}/suspend',
  'POST /api/organizations/{id}/resume',
  'GET /api/organizations/{id}/balance',
  'POST /api/organizations/{id}/credits',
  'GET, POST /api/organizations/{id}/keys',
  'GET, PATCH /api/organizations/{id}/keys/{key id}',
  'POST /api/organizations/{id}/keys/{key id}/revoke',
  'GET /api/organizations/{id}/audit',
  'GET /api/audit',
];

const PUBLIC_API = `<p>The public API, for which the keys are: its <a href="/docs">reference</a>, and the same
as an <a href="/openapi.json">OpenAPI document</a>.</p>
`;

/** What somebody sees who opens this port in a browser. */
export function startPage(documentationUrl: string | undefined, hasDocuments: boolean): string {
  const documentation =
    documentationUrl === undefined
      ? '<code>docs/dashboard-api.md</code> and <code>docs/api.md</code> of the project'
      : `the <a href="${escapeHtml(documentationUrl)}">documentation</a>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Inference Gateway</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:4rem auto;padding:0 1rem}code{font-size:.9em}</style>
</head>
<body>
<h1>Inference Gateway</h1>
<p>This port serves the API for managing organizations, credit and API keys. It speaks JSON and keeps a
session in a cookie; how to use it is written in ${documentation}.</p>
${hasDocuments ? PUBLIC_API : ''}<ul>
${ENDPOINTS.map((endpoint) => `<li><code>${escapeHtml(endpoint)}</code></li>`).join('\n')}
</ul>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
