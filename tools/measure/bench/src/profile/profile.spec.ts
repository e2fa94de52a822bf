import { attribute, IDLE, NODE } from './causes';
import { fromModules, renderProfile, sharesOf, type CpuProfile } from './profile-figures';

const inFile = (file: string, name = 'work') => ({ name, file });
const causeOf = (...files: string[]) => attribute(files.map((file) => inFile(file))).cause;

describe('the cause of a sample', () => {
  it.each([
    ['libs/platform/contracts/src/generated/auth.ts', 'RPC between modules'],
    ['node_modules/@bufbuild/protobuf/dist/cjs/wire/binary-encoding.js', 'RPC between modules'],
    ['node_modules/pg-protocol/dist/parser.js', 'SQL driver'],
    ['node_modules/undici/lib/dispatcher/client-h1.js', 'undici (calls of providers)'],
    ['node_modules/router/index.js', 'express'],
    ['libs/platform/events/src/codec.ts', 'events and their log'],
    ['libs/platform/runtime/src/logger.ts', 'logging'],
    ['libs/platform/runtime/src/metrics.ts', 'metrics and traces'],
    ['libs/platform/runtime/src/clock.ts', 'runtime'],
    ['libs/domains/billing-ledger/src/core/hold.ts', 'billing-ledger'],
    ['node_modules/zod/index.js', 'other packages'],
    ['node:_http_outgoing', 'HTTP server of Node.js'],
  ])('depends on the file: %s', (file, cause) => expect(causeOf(file)).toBe(cause));

  it('is the caller of work in Node.js and V8', () => {
    expect(causeOf('', 'node:net', 'node_modules/pg/lib/client.js', 'libs/domains/usage/src/a.ts')).toBe(
      'SQL driver',
    );
    expect(attribute([inFile('node:net'), inFile('libs/domains/usage/src/a.ts')]).file).toBe(
      'libs/domains/usage/src/a.ts',
    );
  });

  it('is the HTTP server for work that it does for the edge', () => {
    expect(causeOf('node:net', 'node:_http_outgoing', 'libs/domains/edge-proxy/src/a.ts')).toBe(
      'HTTP server of Node.js',
    );
  });

  it('is garbage collection or idle time regardless of the caller', () => {
    const below = inFile('libs/domains/usage/src/a.ts');
    expect(attribute([inFile('', '(garbage collector)'), below]).cause).toBe('garbage collection');
    expect(attribute([inFile('', '(idle)')]).cause).toBe(IDLE);
  });

  it('is Node.js and V8 when no caller is known', () => {
    expect(attribute([inFile('', 'then'), inFile('node:internal/timers'), inFile('', '(root)')])).toEqual({
      cause: NODE,
      file: 'node:internal/timers',
    });
    expect(attribute([inFile('', '(program)'), inFile('', '(root)')]).file).toBe('(program)');
  });
});

const node = (id: number, functionName: string, url: string, children: number[] = []) => ({
  id,
  callFrame: { functionName, url, lineNumber: id, columnNumber: 7 },
  children,
});
const PROFILE: CpuProfile = {
  nodes: [
    node(1, '(root)', '', [2, 3]),
    node(2, '(idle)', ''),
    node(3, 'hold', '/app/main.js', [4]),
    node(4, 'write', 'node:net', [5]),
    node(5, 'encode', 'file:///app/node_modules/express/node_modules/qs/lib/index.js'),
  ],
  samples: [2, 3, 4, 5, 4],
  timeDeltas: [5_000, 100, 200, 600, 100],
};
const findSource = (url: string, line: number, column: number) =>
  url === '/app/main.js' && line === 3 && column === 7
    ? 'libs/domains/billing-ledger/src/core/hold.ts'
    : undefined;

it('samples are summed by cause and by file, without idle time', () => {
  const shares = sharesOf(PROFILE, findSource);
  expect(shares.busyMicroseconds).toBe(1_000);
  expect(Object.fromEntries(shares.causes)).toEqual({ 'billing-ledger': 400, express: 600 });
  expect(Object.fromEntries(shares.files)).toEqual({
    'libs/domains/billing-ledger/src/core/hold.ts': 400,
    'node_modules/qs/lib/index.js': 600,
  });
  expect(fromModules('node:net')).toBe('node:net');
});

it('causes add up to the CPU time per request, in descending order', () => {
  const lines = renderProfile(sharesOf(PROFILE, findSource), 250).split('\n');
  expect(lines.map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'cause CPU µs/req share',
    'express 150.0 60.0 %',
    'billing-ledger 100.0 40.0 %',
    'all 250.0 100.0 %',
    '',
    'file CPU µs/req share',
    'node_modules/qs/lib/index.js 150.0 60.0 %',
    'libs/domains/billing-ledger/src/core/hold.ts 100.0 40.0 %',
  ]);
});
