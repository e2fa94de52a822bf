import type { ReceivedSpan } from '@gateway/test-support';
import { criticalPath, renderCriticalPath } from './critical-path';

const span = (
  spanId: string,
  parentSpanId: string,
  name: string,
  [startUnixMs, durationMs]: readonly [number, number],
): ReceivedSpan => ({
  ...{ spanId, parentSpanId, name, startUnixMs, durationMs },
  ...{ service: 'edge-proxy', traceId: 't', kind: 'server', attributes: {}, links: [], failed: false },
});

const REQUEST = 'POST /v1/chat/completions';
const SPANS = [
  span('a', 'of-the-client', REQUEST, [1_000, 10]),
  span('b', 'a', 'Hold', [1_002, 3]),
  span('c', 'b', 'statement', [1_003, 1]),
  span('d', 'a', 'Finish', [1_010, 4]),
  span('e', '', REQUEST, [2_000, 20]),
  span('f', 'e', 'Hold', [2_004, 5]),
  span('g', 'f', 'statement', [2_005, 3]),
  span('h', 'e', 'Finish', [2_020, 6]),
  span('x', 'e', 'retry', [2_010, 1]),
  span('y', '', 'GET /v1/models', [3_000, 1]),
];

it('averages the steps of all requests, in the order of their start', () => {
  const steps = criticalPath([...SPANS, span('z', '', REQUEST, [4_000, 15])]);
  expect(
    steps.map(({ name, depth, startMs, durationMs, endsBeforeResponse }) => [
      ...[name, depth, startMs, durationMs, endsBeforeResponse],
    ]),
  ).toEqual([
    [`server ${REQUEST}`, 0, 0, 15, true],
    ['server Hold', 1, 3, 4, true],
    ['server statement', 2, 4, 2, true],
    ['server Finish', 1, 15, 5, false],
  ]);
});

it('renders a table with indented steps', () => {
  expect(renderCriticalPath(criticalPath(SPANS))).toContain(
    '| · · server statement | edge-proxy | 4.00 | 2.00 | yes |',
  );
});
