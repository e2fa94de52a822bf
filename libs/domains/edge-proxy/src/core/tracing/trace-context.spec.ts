import { readTraceContext } from './trace-context';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const VALID = `00-${TRACE}-${PARENT}-01`;

it.each([VALID, `00-${TRACE}-${PARENT}-00`, `00-${TRACE}-${PARENT}-ff`])(
  '%s is propagated unchanged',
  (traceparent) => expect(readTraceContext(traceparent, undefined)).toEqual({ traceparent }),
);

it.each([
  ['nothing', undefined],
  ['an empty header', ''],
  ['text', 'trace'],
  ['upper case', VALID.toUpperCase()],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
  ['a parent id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['a short trace id', `00-${TRACE.slice(1)}-${PARENT}-01`],
  ['more than version 00 has', `${VALID}-x`],
  ['the forbidden version', `ff-${TRACE}-${PARENT}-01`],
  ['a later version with trailing characters', `01-${TRACE}-${PARENT}-01x`],
  ['two headers', `${VALID}, ${VALID}`],
  ['a line break', `${VALID}\n`.repeat(2)],
  ['a huge header', `01-${TRACE}-${PARENT}-01-${'x'.repeat(10_000)}`],
])('%s is ignored', (_name, traceparent) =>
  expect(readTraceContext(traceparent, 'vendor=1')).toBeUndefined(),
);

it('rewrites a later version as version 00, with the sampled flag only', () => {
  expect(readTraceContext(`01-${TRACE}-${PARENT}-03-more`, undefined)).toEqual({ traceparent: VALID });
  expect(readTraceContext(`cc-${TRACE}-${PARENT}-02`, undefined)).toEqual({
    traceparent: `00-${TRACE}-${PARENT}-00`,
  });
});

it.each([
  ['vendor=value', 'vendor=value'],
  ['a=1,b=2 , ,\tc=x y', 'a=1,b=2,c=x y'],
  ['tenant@system=x/1*_-', 'tenant@system=x/1*_-'],
  ['9tenant@system=!~', '9tenant@system=!~'],
])('propagates tracestate %j', (tracestate, propagated) =>
  expect(readTraceContext(VALID, tracestate)).toEqual({ traceparent: VALID, tracestate: propagated }),
);

it.each([
  '',
  ',',
  'vendor',
  'Vendor=1',
  'vendor=',
  'vendor=a=b',
  'vendor=ü',
  'vendor=a\u0000b',
  `vendor=${'x'.repeat(600)}`,
  Array.from({ length: 33 }, (_, index) => `a${index}=1`).join(','),
])('drops an invalid tracestate %j and keeps the traceparent', (tracestate) =>
  expect(readTraceContext(VALID, tracestate)).toEqual({ traceparent: VALID }),
);
