import { finishReasonOf } from './finish-reason';

it('maps every known finish reason, and an unknown one to "stop"', () => {
  for (const [reported, known] of [
    ['stop', 'stop'],
    ['end_turn', 'stop'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_calls', 'tool_calls'],
    ['function_call', 'tool_calls'],
    ['content_filter', 'content_filter'],
    ['SAFETY', 'content_filter'],
    ['unknown', 'stop'],
    ['constructor', 'stop'],
    [null, undefined],
    ['', undefined],
  ] as const) {
    expect(finishReasonOf(reported)).toBe(known);
  }
});
