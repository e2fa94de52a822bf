import { type RequestHandler, type Response, Router } from 'express';
import type { PublicDocuments } from '../ports';
import { FILES, REFERENCE_PAGE, START_SCRIPT, START_SCRIPT_PATH } from './reference-page';

/** How long browsers may cache the documents, in seconds. */
const MAX_AGE_S = 300;

/** Allows only files that this port serves, and nothing inline. */
const VIEWER_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the public API's OpenAPI document and a viewer for it, without authentication. */
export function createDocumentRoutes({ folder }: PublicDocuments): Router {
  const router = Router({ caseSensitive: true, strict: true });

  router.get(`/${FILES.openApi}`, file(folder, FILES.openApi));
  router.get('/docs', (_request, response) => {
    cached(response).setHeader('content-security-policy', VIEWER_POLICY);
    response.type('html').send(REFERENCE_PAGE);
  });
  router.get(START_SCRIPT_PATH, (_request, response) => {
    cached(response).type('js').send(START_SCRIPT);
  });
  for (const name of [FILES.viewerScript, FILES.viewerStyle]) router.get(`/docs/${name}`, file(folder, name));
  return router;
}

/** Reads the file on each request: the viewer's script is too large to hold in memory. */
function file(folder: string, name: string): RequestHandler {
  return (_request, response, next) => {
    cached(response).sendFile(name, { root: folder, cacheControl: false, dotfiles: 'allow' }, (error) => {
      // A cancelled download is not an error.
      if (error && !response.headersSent) next(error);
    });
  };
}

function cached(response: Response): Response {
  response.setHeader('cache-control', `max-age=${MAX_AGE_S}`);
  return response;
}
