import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { RequestHandler } from 'express';
import { acceptedEncodings } from '../http/accepted-encodings';
import type { WebApp } from '../ports';

/** Media types by file extension; files with other extensions are not served. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The precompressed encodings of the build, in order of preference. */
const ENCODINGS = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

/** For files with a content hash in their name. */
const IMMUTABLE = 'public, max-age=31536000, immutable';
const REVALIDATE = 'no-cache';

const INDEX_FILE = 'index.html';
/** Prefixes of the API and its documents, where an unknown path is a 404 and not a page. */
const NON_PAGE_PATHS = /^\/(api|docs|openapi\.json)(\/|$)/;

interface Representation {
  readonly encoding: string | undefined;
  readonly content: Buffer;
}

interface WebFile {
  readonly type: string;
  readonly caching: string;
  /** In order of preference; the uncompressed file is last. */
  readonly representations: readonly Representation[];
}

/**
 * Serves the files of the web app, and its index page at every other path, since the app has client-side routes. The files
 * are read once at startup, which also rules out path traversal.
 *
 * @param connectTo the other origin that pages may call; evaluated per request, since the port may be chosen at startup.
 */
export function createWebAppRoutes(
  { folder }: WebApp,
  connectTo: () => string | undefined = () => undefined,
): RequestHandler {
  const files = readFiles(folder);
  const indexPage = files.get(`/${INDEX_FILE}`);
  if (!indexPage) throw new Error(`${folder} has no ${INDEX_FILE}`);

  return (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    const file = files.get(request.path) ?? (isPage(request.path) ? indexPage : undefined);
    if (!file) return next();
    response.setHeader('content-type', file.type);
    response.setHeader('cache-control', file.caching);
    response.setHeader('vary', 'accept-encoding');
    if (file === indexPage) response.setHeader('content-security-policy', policy(connectTo()));
    const { encoding, content } = negotiate(file, request.headers['accept-encoding']);
    if (encoding) response.setHeader('content-encoding', encoding);
    response.setHeader('content-length', content.length);
    response.end(request.method === 'HEAD' ? undefined : content);
  };
}

/** No inline code, no other sources, and no framing. */
function policy(connectTo: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data: blob:",
    connectTo === undefined ? "connect-src 'self'" : `connect-src 'self' ${connectTo}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function isPage(requestPath: string): boolean {
  return !NON_PAGE_PATHS.test(requestPath) && path.posix.extname(requestPath) === '';
}

function negotiate({ representations }: WebFile, accepted: string | undefined): Representation {
  const names = acceptedEncodings(accepted);
  const found = representations.find(({ encoding }) => encoding === undefined || names.includes(encoding));
  return found as Representation;
}

function readFiles(folder: string): ReadonlyMap<string, WebFile> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
    name.split(path.sep).join('/'),
  );
  const read = (name: string) => readFileSync(path.join(folder, name));
  return new Map(
    names.flatMap((name) => {
      const type = MEDIA_TYPES[path.posix.extname(name)];
      if (type === undefined) return [];
      const representations: Representation[] = [
        ...ENCODINGS.filter(({ ending }) => names.includes(name + ending)).map((encoding) => ({
          encoding: encoding.name,
          content: read(name + encoding.ending),
        })),
        { encoding: undefined, content: read(name) },
      ];
      const caching = name.startsWith('assets/') ? IMMUTABLE : REVALIDATE;
      return [[`/${name}`, { type, caching, representations }] as const];
    }),
  );
}
