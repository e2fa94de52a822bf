/** A function of a profile, with the file it was written in. */
export interface Frame {
  readonly name: string;
  /** `libs/…`, `node_modules/…`, `node:…`, or empty for what the engine brings itself. */
  readonly file: string;
}

export const IDLE = 'idle';
export const NODE = 'node and the engine, for nobody in particular';

/** By the start of a file's path; the first that fits. Another lib or app of the project is a cause by its name. */
const CAUSES: readonly (readonly [cause: string, ...starts: readonly string[]])[] = [
  ['HTTP server of node', 'node:_http_', 'node:internal/http'],
  ['undici (calls of providers)', 'node_modules/undici/'],
  ['express', ...packages('express', 'router', 'path-to-regexp', 'finalhandler', 'helmet', 'cookie', 'qs')],
  [
    'RPC between modules',
    'libs/platform/rpc/',
    'libs/platform/contracts/',
    'libs/platform/module/',
    'node_modules/@bufbuild/',
  ],
  [
    'SQL driver',
    'libs/platform/database/',
    'node_modules/pg',
    'node_modules/@prisma/',
    'node_modules/postgres-',
  ],
  ['logging', 'libs/platform/runtime/src/logger', 'libs/platform/base/src/log-sampler', 'node_modules/pino'],
  ['logging', ...packages('sonic-boom', 'safe-stable-stringify', 'quick-format-unescaped', 'thread-stream')],
  [
    'metrics and traces',
    'libs/platform/runtime/src/metrics',
    'libs/platform/telemetry/',
    'node_modules/prom-client/',
  ],
  ['metrics and traces', 'node_modules/@opentelemetry/'],
  ['events and their log', 'libs/platform/events/'],
];

function packages(...names: readonly string[]): string[] {
  return names.map((name) => `node_modules/${name}/`);
}

/** What a sample is laid to. */
export interface Blame {
  readonly cause: string;
  readonly file: string;
}

/**
 * Asks the frames of a stack, the innermost first, until one says whose work it is: what node and the engine
 * do for a caller is the caller's, except for collecting garbage and the HTTP server. The engine's profiler
 * does not tell JSON.parse and JSON.stringify from the function that calls them.
 */
export function blame(stack: readonly Frame[]): Blame {
  const leaf = stack[0];
  if (leaf?.file === '') {
    if (leaf.name === '(idle)') return { cause: IDLE, file: '' };
    if (leaf.name === '(garbage collector)') return { cause: 'garbage collection', file: leaf.name };
  }
  for (const { file } of stack) {
    const cause = causeOf(file);
    if (cause !== undefined) return { cause, file };
  }
  const outermost = stack.findLast(({ file }) => file !== '');
  return { cause: NODE, file: outermost?.file ?? leaf?.name ?? '' };
}

function causeOf(file: string): string | undefined {
  const known = CAUSES.find(([, ...starts]) => starts.some((start) => file.startsWith(start)));
  if (known !== undefined) return known[0];
  const own = /^(?:apps|(?:libs|tools)\/[^/]+)\/([^/]+)\//.exec(file)?.[1];
  if (own !== undefined) return own;
  return file.startsWith('node_modules/') ? 'other packages' : undefined;
}
