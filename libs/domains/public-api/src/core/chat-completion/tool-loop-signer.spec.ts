import type { ChatMessage } from './schema/checked-fields';
import { toolLoopSigner } from './tool-loop-signer';

const user: ChatMessage = { role: 'user', content: 'Hi' };
const result: ChatMessage = { role: 'tool', content: 'Sunny' };
const calling = (signed: Pick<ChatMessage, 'reasoning_details' | 'tool_calls'>): ChatMessage => ({
  role: 'assistant',
  tool_calls: [{ id: 'call_1', function: { name: 'weather', arguments: '{}' } }],
  ...signed,
});
const thought = (signer?: string) => ({ type: 'reasoning.text', text: 'Hm', signed_by: signer });
const callWith = (signer: string) => ({
  id: 'call_1',
  function: { name: 'weather', arguments: '{}' },
  extra_content: { google: { thought_signature: 's' }, signed_by: signer },
});

it.each<[string, readonly ChatMessage[], string | undefined]>([
  ['reasoning', [user, calling({ reasoning_details: [thought('a')] as never }), result], 'a'],
  ['a tool call', [user, calling({ tool_calls: [callWith('b')] }), result, result], 'b'],
  [
    'the last turn',
    [
      user,
      calling({ tool_calls: [callWith('a')] }),
      result,
      calling({ tool_calls: [callWith('b')] }),
      result,
    ],
    'b',
  ],
  ['nothing', [user, calling({}), result], undefined],
  ['no target', [user, calling({ reasoning_details: [thought()] as never }), result], undefined],
  ['a loop that has ended', [user, calling({ tool_calls: [callWith('a')] }), result, user], undefined],
  ['only tool messages', [result], undefined],
  ['no message', [], undefined],
])('a tool loop is signed by %s', (_what, messages, signer) => {
  expect(toolLoopSigner(messages)).toBe(signer);
});
