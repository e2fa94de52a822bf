import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import tailwind from '@tailwindcss/vite';
import { defineConfig } from 'vite';

const root = import.meta.dirname;
const workspace = path.resolve(root, '../..');
const { paths } = JSON.parse(readFileSync(`${workspace}/tsconfig.base.json`, 'utf8')).compilerOptions;
/** The local gateway that `npx vite` proxies to. */
const API = 'http://127.0.0.1:8081';

export default defineConfig({
  root,
  plugins: [tailwind(), precompress()],
  resolve: {
    alias: Object.entries(paths).map(([name, [file]]) => ({
      find: new RegExp(`^${name.replace('*', '(.+)')}$`),
      replacement: path.join(workspace, file.replace('*', '$1')),
    })),
  },
  build: {
    outDir: path.resolve(root, '../../dist/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    manifest: true,
    // The content security policy allows no data: fonts and no inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      // Each file of a page costs a round trip: the first page loads one, and small modules that pages share are merged.
      output: {
        codeSplitting: {
          groups: [
            { name: 'first-page', tags: ['$initial'] },
            { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 5_000 },
          ],
        },
      },
      // Packages mark modules for React's servers, which browsers do not need; each mark would be a warning.
      checks: { moduleLevelDirective: false },
    },
  },
  server: { proxy: { '/api': API, '/docs': API, '/openapi.json': API } },
});

/** Writes .br and .gz versions of text files, so that the server need not compress per request. */
function precompress() {
  return {
    name: 'precompress',
    apply: 'build',
    writeBundle({ dir }) {
      for (const name of readdirSync(dir, { recursive: true })) {
        if (!/\.(js|css|html|svg)$/.test(name)) continue;
        const file = path.join(dir, name);
        const content = readFileSync(file);
        const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
        writeFileSync(`${file}.br`, brotliCompressSync(content, quality));
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}
