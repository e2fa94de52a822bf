/** The names under which the files of {@link PublicDocuments} lie in their folder. */
export const FILES = {
  openApi: 'openapi.json',
  viewerScript: 'swagger-ui-bundle.js',
  viewerStyle: 'swagger-ui.css',
} as const;

export const START_SCRIPT_PATH = '/docs/start.js';

/**
 * The page that shows the OpenAPI document by Swagger UI. All that it runs and
 * loads has an address of its own on this port, so that its policy needs
 * neither inline scripts nor inline styles nor anything from elsewhere.
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
<p class="information-container wrapper">The same as an <a href="/${FILES.openApi}">OpenAPI document</a>.</p>
<noscript><p class="wrapper">This page needs scripts; the <a href="/${FILES.openApi}">OpenAPI document</a> needs none.</p></noscript>
<div id="reference"></div>
<script src="/docs/${FILES.viewerScript}"></script>
<script src="${START_SCRIPT_PATH}"></script>
</body>
</html>
`;

/**
 * Shows, and sends nothing: the API is at another origin, which answers pages of
 * its own origin only, and a key does not belong into a page of documentation.
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
