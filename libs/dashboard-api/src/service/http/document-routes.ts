import { createHash } from 'node:crypto';
import { Router } from 'express';
import type { PublicDocuments } from '../ports';

/** So long may a browser show the documents without asking again, in seconds. */
const MAX_AGE_S = 300;

/** The public API's documentation: for anybody, and nothing of it can run or load anything. */
export function createDocumentRoutes({ openApiJson, referenceHtml }: PublicDocuments): Router {
  const contentSecurityPolicy = [
    "default-src 'none'",
    ['style-src', ...styleHashes(referenceHtml)].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const router = Router({ caseSensitive: true, strict: true });

  router.get('/openapi.json', (_request, response) => {
    response.setHeader('cache-control', `max-age=${MAX_AGE_S}`);
    response.type('json').send(openApiJson);
  });
  router.get('/docs', (_request, response) => {
    response.setHeader('cache-control', `max-age=${MAX_AGE_S}`);
    response.setHeader('content-security-policy', contentSecurityPolicy);
    response.type('html').send(referenceHtml);
  });
  return router;
}

/** The page's own styles, each by its hash; no other will be applied. */
function styleHashes(html: string): string[] {
  return [...html.matchAll(/<style>([^]*?)<\/style>/g)].map(
    ([, style = '']) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  );
}
