import { streamEvents, wholeAnswer } from './canned';
import { checkAnswer } from './check';

const OK = 'HTTP/1.1 200 OK';
const message = (body: string, startLine = OK) => ({ startLine, head: '', body });
const events = () => streamEvents(10, true);
const check = (parts: readonly string[]) => checkAnswer('stream', 10, message(parts.join('')));

describe('every answer is checked', () => {
  it('accepts what the upstream sends', () => {
    expect(checkAnswer('whole', 0, message(wholeAnswer()))).toEqual({ costNanoUsd: undefined });
    expect(check(events())).toEqual({ costNanoUsd: undefined });
  });

  it('reads the cost', () => {
    const priced = wholeAnswer().replace('"usage":{', '"usage":{"cost":0.000072001,');
    expect(checkAnswer('whole', 0, message(priced))).toEqual({ costNanoUsd: 72_001 });
    const small = wholeAnswer().replace('"usage":{', '"usage":{"cost":7.2e-8,');
    expect(checkAnswer('whole', 0, message(small))).toEqual({ costNanoUsd: 72 });
  });

  it('refuses another status, another text and another usage', () => {
    expect(() => checkAnswer('whole', 0, message('{}', 'HTTP/1.1 500 Oops'))).toThrow('not a 200');
    expect(() => checkAnswer('whole', 0, message(wholeAnswer().replace('word7', 'word8')))).toThrow('text');
    expect(() =>
      checkAnswer(
        'whole',
        0,
        message(wholeAnswer().replace('"completion_tokens":40', '"completion_tokens":41')),
      ),
    ).toThrow('usage');
  });

  it('refuses a stream with a chunk lost, doubled or out of order', () => {
    expect(() => check(events().toSpliced(4, 1))).toThrow('chunk 3');
    const doubled = events();
    expect(() => check(doubled.toSpliced(4, 0, doubled[4] ?? ''))).toThrow('events');
    expect(() => check(doubled.toSpliced(11, 0, doubled[10] ?? ''))).toThrow('twice');
    const swapped = events();
    [swapped[3], swapped[4]] = [swapped[4] ?? '', swapped[3] ?? ''];
    expect(() => check(swapped)).toThrow('chunk 3');
  });

  it('refuses a stream without its end', () => {
    expect(() => check(events().slice(0, -1))).toThrow('[DONE]');
    expect(() => check(events().toSpliced(12, 1))).toThrow('usage');
    expect(() => check(events().toSpliced(11, 1))).toThrow('finish reason');
  });
});
