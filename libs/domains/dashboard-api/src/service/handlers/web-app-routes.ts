import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { RequestHandler } from 'express';
import type { WebApp } from '../ports';

/** What the names of the build end with says what they are; others are not served. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Best first: the encodings that the build wrote beside its files. */
const ENCODINGS = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

/** A file with a hash of its content in its name never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_AGAIN = 'no-cache';

const START_FILE = 'index.html';
/** Paths that belong to others on this port: what they do not know is not a page. */
const NOT_PAGES = /^\/(api|docs|openapi\.json)(\/|$)/;

interface Representation {
  readonly encoding: string | undefined;
  readonly content: Buffer;
}

interface WebFile {
  readonly type: string;
  readonly caching: string;
  /** Best first; the last is the file as it is. */
  readonly representations: readonly Representation[];
}

/**
 * The web app: its files, and its start page at every path that is nobody
 * else's, since the app finds its pages itself. All of it is read once, at the
 * start: it is small, and only what was there then can ever be asked for.
 *
 * @param connectTo the origin that pages may call beside this one; asked for
 * each page, since a port may be picked at the start.
 */
export function createWebAppRoutes(
  { folder }: WebApp,
  connectTo: () => string | undefined = () => undefined,
): RequestHandler {
  const files = readFiles(folder);
  const startPage = files.get(`/${START_FILE}`);
  if (!startPage) throw new Error(`${folder} holds no ${START_FILE}`);

  return (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    const file = files.get(request.path) ?? (isPage(request.path) ? startPage : undefined);
    if (!file) return next();
    response.setHeader('content-type', file.type);
    response.setHeader('cache-control', file.caching);
    response.setHeader('vary', 'accept-encoding');
    if (file === startPage) response.setHeader('content-security-policy', policy(connectTo()));
    const { encoding, content } = acceptable(file, request.headers['accept-encoding']);
    if (encoding) response.setHeader('content-encoding', encoding);
    response.setHeader('content-length', content.length);
    response.end(request.method === 'HEAD' ? undefined : content);
  };
}

/** Nothing is inline, nothing comes from elsewhere, and no other page may frame it. */
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
  return !NOT_PAGES.test(requestPath) && path.posix.extname(requestPath) === '';
}

function acceptable({ representations }: WebFile, accepted: string | undefined): Representation {
  const names = (accepted ?? '').split(',').flatMap((part) => {
    const [name = '', quality = ''] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    return /^q=0(\.0*)?$/.test(quality) ? [] : [name];
  });
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
      const caching = name.startsWith('assets/') ? FOR_EVER : ASK_AGAIN;
      return [[`/${name}`, { type, caching, representations }] as const];
    }),
  );
}
