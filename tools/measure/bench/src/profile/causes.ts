/** A function of a profile, with its source file. */
export interface Frame {
  readonly name: string;
  /** `libs/…`, `node_modules/…`, `node:…`, or empty for functions of V8. */
  readonly file: string;
}

export const IDLE = 'idle';
export const NODE = 'Node.js and V8, no known caller';

/** Path prefixes of causes; the first match wins. Any other library or app is a cause with its name. */
const CAUSES: readonly (readonly [cause: string, ...starts: readonly string[]])[] = [
  ['HTTP server of Node.js', 'node:_http_', 'node:internal/http'],
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

/** The cause and file of a sample. */
export interface Attribution {
  readonly cause: string;
  readonly file: string;
}

/**
 * Attributes a stack to its innermost frame with a known cause: work of Node.js and V8 counts for its caller,
 * except for garbage collection and the HTTP server. V8's profiler attributes JSON.parse and JSON.stringify to
 * their caller.
 */
export function attribute(stack: readonly Frame[]): Attribution {
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
