import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const built = path.resolve(__dirname, '../../dist/dashboard');
/** The limit of compressed script before the first page is shown. */
const MAX_INITIAL_BYTES = 200_000;

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
}

function readManifest(): Readonly<Record<string, Chunk>> {
  const file = path.join(built, '.vite/manifest.json');
  if (!existsSync(file)) throw new Error('The dashboard is not built: run `npm run build`, or `npm test`.');
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Chunk>;
}

/** A chunk with its static imports. */
function withImports(
  manifest: Readonly<Record<string, Chunk>>,
  name: string,
  seen = new Set<string>(),
): Set<string> {
  const chunk = manifest[name];
  if (!chunk || seen.has(chunk.file)) return seen;
  seen.add(chunk.file);
  for (const one of chunk.imports ?? []) withImports(manifest, one, seen);
  return seen;
}

const text = (file: string) => readFileSync(path.join(built, file), 'utf8');

describe('the built dashboard', () => {
  const manifest = readManifest();
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry) ?? '';
  const initial = [...withImports(manifest, entry)];

  it('needs less than 200 kB of compressed script for the first page', () => {
    const bytes = initial.reduce((sum, file) => sum + gzipSync(text(file), { level: 9 }).length, 0);
    // Guards against measuring nothing.
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(MAX_INITIAL_BYTES);
  });

  it('loads charts and schemas on demand only', () => {
    expect(initial.map(text).join('')).not.toMatch(/recharts|ZodObject/);
    const others = Object.values(manifest).filter(
      ({ file }) => !initial.includes(file) && file.endsWith('.js'),
    );
    expect(others.some(({ file }) => text(file).includes('recharts'))).toBe(true);
  });

  it('has no inline code and no other origins, as its policy requires', () => {
    const html = text('index.html');
    expect(html).not.toMatch(/<style|style=|<script(?![^>]*\bsrc=)|\son\w+=|https?:\/\//);
    expect(html).toMatch(/<script type="module" crossorigin src="\/assets\//);
  });
});
