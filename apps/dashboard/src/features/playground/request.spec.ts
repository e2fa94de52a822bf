import { bodyOf, issuesOf, parseTools, type PlaygroundRequest } from './request';

const REQUEST: PlaygroundRequest = {
  model: 'a/b',
  system: '',
  messages: [{ role: 'user', text: 'Hello' }],
  maxTokens: '',
  tools: '',
  stream: true,
};

it('requests usage with a stream, and omits unset options', () =>
  expect(bodyOf(REQUEST)).toEqual({
    model: 'a/b',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
    stream_options: { include_usage: true },
  }));

it('starts with the instructions, and sends an image with its text', () =>
  expect(
    bodyOf({
      ...REQUEST,
      system: ' Be brief. ',
      messages: [{ role: 'user', text: 'What is this?', image: 'data:image/png;base64,AA==' }],
      maxTokens: ' 64 ',
      tools: '[{"type":"function"}]',
      stream: false,
    }),
  ).toEqual({
    model: 'a/b',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
    ],
    max_tokens: 64,
    tools: [{ type: 'function' }],
  }));

it.each(['abc', '1,000', '0', '1.5'])(
  'does not send %j as the maximum of output tokens, and says so',
  (maxTokens) => {
    expect(bodyOf({ ...REQUEST, maxTokens })).not.toHaveProperty('max_tokens');
    expect(issuesOf({ maxTokens, tools: '' }).maxTokens).toBe('Enter a whole number of at least 1.');
  },
);

it.each([
  ['', []],
  [' \n', []],
  ['[]', []],
  ['{}', undefined],
  ['[', undefined],
])('parses %j as tools', (text, tools) => expect(parseTools(text)).toEqual(tools));
