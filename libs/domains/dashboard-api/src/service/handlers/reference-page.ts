/** The file names in the folder of {@link PublicDocuments}. */
export const FILES = {
  openApi: 'openapi.json',
  viewerScript: 'swagger-ui-bundle.js',
  viewerStyle: 'swagger-ui.css',
} as const;

export const START_SCRIPT_PATH = '/docs/start.js';

/**
 * The page that shows the OpenAPI document in Swagger UI. Everything that it loads is a file of this
 * port, so its policy needs no inline scripts or styles.
 */
export const REFERENCE_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Inference Gateway: API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/${FILES.viewerStyle}">
</head>
<body>
<p class="information-container wrapper">Also available as an <a href="/${FILES.openApi}">OpenAPI document</a>.</p>
<noscript><p class="wrapper">This page needs JavaScript. See the <a href="/${FILES.openApi}">OpenAPI document</a> instead.</p></noscript>
<div id="reference"></div>
<script src="/docs/${FILES.viewerScript}"></script>
<script src="${START_SCRIPT_PATH}"></script>
</body>
</html>
`;

/**
 * Read-only: the public API has another origin and rejects cross-origin requests, and an API key does
 * not belong in a documentation page.
 */
export const START_SCRIPT = `SwaggerUIBundle({
  url: '/${FILES.openApi}',
  domNode: document.getElementById('reference'),
  deepLinking: true,
  displayRequestDuration: false,
  defaultModelExpandDepth: 3,
  defaultModelRendering: 'model',
  supportedSubmitMethods: [],
  validatorUrl: null,
  plugins: [() => ({ wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null } })],
});
`;
