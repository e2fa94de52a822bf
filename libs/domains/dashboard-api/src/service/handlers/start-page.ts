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

const PUBLIC_API = `<p>Public API: <a href="/docs">reference</a> and <a href="/openapi.json">OpenAPI document</a>.</p>
`;

/** The page at `/` when the web app is not built. */
export function startPage(documentationUrl: string | undefined, hasDocuments: boolean): string {
  const documentation =
    documentationUrl === undefined
      ? '<code>docs/reference/dashboard-api.md</code> and <code>docs/reference/public-api.md</code> in the project'
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
<p>This port serves the JSON API for managing organizations, credit and API keys. See ${documentation}.</p>
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
