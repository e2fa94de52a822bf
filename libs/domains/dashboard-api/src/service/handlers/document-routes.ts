import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type RequestHandler, type Response, Router } from 'express';
import type { PublicDocuments } from '../ports';
import {
  FILES,
  PLAIN_REFERENCE_PATH,
  REFERENCE_PAGE,
  START_SCRIPT,
  START_SCRIPT_PATH,
} from './reference-page';

/** So long may a browser show the documents without asking again, in seconds. */
const MAX_AGE_S = 300;

/** Nothing runs or is loaded but what this port serves itself; nothing is inline. */
const VIEWER_POLICY = policy(
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
);

/**
 * The public API's documentation, for anybody: by a viewer, on one plain page
 * for whoever runs no scripts, and as an OpenAPI document.
 */
export function createDocumentRoutes({ folder }: PublicDocuments): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const plainReference = readFileSync(path.join(folder, FILES.plainReference), 'utf8');

  router.get(`/${FILES.openApi}`, file(folder, FILES.openApi));
  router.get('/docs', page(REFERENCE_PAGE, VIEWER_POLICY));
  router.get(
    PLAIN_REFERENCE_PATH,
    page(plainReference, policy(['style-src', ...styleHashes(plainReference)].join(' '))),
  );
  router.get(START_SCRIPT_PATH, (_request, response) => {
    cached(response).type('js').send(START_SCRIPT);
  });
  for (const name of [FILES.viewerScript, FILES.viewerStyle]) router.get(`/docs/${name}`, file(folder, name));
  return router;
}

function policy(...directives: readonly string[]): string {
  return [
    "default-src 'none'",
    ...directives,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function page(html: string, contentSecurityPolicy: string): RequestHandler {
  return (_request, response) => {
    cached(response).setHeader('content-security-policy', contentSecurityPolicy);
    response.type('html').send(html);
  };
}

/** From disk each time it is asked for: the viewer's script is larger than most of what is kept in memory. */
function file(folder: string, name: string): RequestHandler {
  return (_request, response, next) => {
    cached(response).sendFile(name, { root: folder, cacheControl: false, dotfiles: 'allow' }, (error) => {
      // Whoever cancels a download is nobody's news.
      if (error && !response.headersSent) next(error);
    });
  };
}

function cached(response: Response): Response {
  response.setHeader('cache-control', `max-age=${MAX_AGE_S}`);
  return response;
}

/** The page's own styles, each by its hash; no other will be applied. */
function styleHashes(html: string): string[] {
  return [...html.matchAll(/<style>([^]*?)<\/style>/g)].map(
    ([, style = '']) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  );
}
