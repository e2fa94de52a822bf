import { streamEvents, nonStreamingBody } from './canned';
import { checkResponse } from './check';

const OK = 'HTTP/1.1 200 OK';
const message = (body: string, startLine = OK) => ({ startLine, head: '', body });
const events = () => streamEvents(10, true);
const check = (parts: readonly string[]) => checkResponse('stream', 10, message(parts.join('')));

describe('checkResponse', () => {
  it('accepts what the upstream sends', () => {
    expect(checkResponse('non-streaming', 0, message(nonStreamingBody()))).toEqual({
      costNanoUsd: undefined,
    });
    expect(check(events())).toEqual({ costNanoUsd: undefined });
  });

  it('reads the cost', () => {
    const priced = nonStreamingBody().replace('"usage":{', '"usage":{"cost":0.000072001,');
    expect(checkResponse('non-streaming', 0, message(priced))).toEqual({ costNanoUsd: 72_001 });
    const small = nonStreamingBody().replace('"usage":{', '"usage":{"cost":7.2e-8,');
    expect(checkResponse('non-streaming', 0, message(small))).toEqual({ costNanoUsd: 72 });
  });

  it('rejects a wrong status, text or usage', () => {
    expect(() => checkResponse('non-streaming', 0, message('{}', 'HTTP/1.1 500 Oops'))).toThrow('not a 200');
    expect(() =>
      checkResponse('non-streaming', 0, message(nonStreamingBody().replace('word7', 'word8'))),
    ).toThrow('text');
    expect(() =>
      checkResponse(
        'non-streaming',
        0,
        message(nonStreamingBody().replace('"completion_tokens":40', '"completion_tokens":41')),
      ),
    ).toThrow('usage');
  });

  it('rejects a stream with a missing, duplicate or reordered chunk', () => {
    expect(() => check(events().toSpliced(4, 1))).toThrow('chunk 3');
    const duplicated = events();
    expect(() => check(duplicated.toSpliced(4, 0, duplicated[4] ?? ''))).toThrow('events');
    expect(() => check(duplicated.toSpliced(11, 0, duplicated[10] ?? ''))).toThrow('duplicate chunk');
    const swapped = events();
    [swapped[3], swapped[4]] = [swapped[4] ?? '', swapped[3] ?? ''];
    expect(() => check(swapped)).toThrow('chunk 3');
  });

  it('rejects an incomplete stream', () => {
    expect(() => check(events().slice(0, -1))).toThrow('[DONE]');
    expect(() => check(events().toSpliced(12, 1))).toThrow('usage');
    expect(() => check(events().toSpliced(11, 1))).toThrow('finish reason');
  });
});
