import type { DialectName } from '../core/dialects/registry';
import {
  generateRequest,
  model,
  provider,
  type RouterUnderTest,
  withRouter,
} from '../testing/router-under-test';
import { failure, helloCompletion, json, ScriptedProvider, type Script } from '../testing/scripted-provider';

let first: ScriptedProvider;
let second: ScriptedProvider;

beforeAll(async () => {
  first = await ScriptedProvider.start();
  second = await ScriptedProvider.start();
});

afterAll(async () => {
  await first.stop();
  await second.stop();
});

const SIGNATURE = 'the-signature';

/** A response of each protocol with a tool call whose reasoning or call is signed. */
const signedCall: Readonly<Record<DialectName, object>> = {
  openai: {
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'weather', arguments: '{}' },
              extra_content: { google: { thought_signature: SIGNATURE } },
            },
          ],
        },
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  },
  anthropic: {
    type: 'message',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'The weather, then.', signature: SIGNATURE },
      { type: 'tool_use', id: 'call_1', name: 'weather', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 10, output_tokens: 5 },
  },
  gemini: {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [{ functionCall: { name: 'weather', args: {} }, thoughtSignature: SIGNATURE }],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  },
  converse: {
    output: {
      message: {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'The weather, then.', signature: SIGNATURE } } },
          { toolUse: { toolUseId: 'call_1', name: 'weather', input: {} } },
        ],
      },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  },
};

interface Message {
  readonly reasoning_details?: readonly { readonly signed_by?: string }[];
  readonly tool_calls: readonly {
    readonly id: string;
    readonly extra_content?: { readonly signed_by?: string };
  }[];
}

const question = { role: 'user', content: 'Hi' };
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
const bodyOf = (messages: readonly object[]) => Buffer.from(JSON.stringify({ messages, tools }));

async function messageOf(router: RouterUnderTest): Promise<Message> {
  const { finished, error } = await router.collect(generateRequest({ bodyJson: bodyOf([question]) }));
  expect(error).toBeUndefined();
  const { choices } = JSON.parse(finished?.responseJson?.toString() ?? '') as {
    choices: { message: Message }[];
  };
  return choices[0]?.message as Message;
}

const signerOf = ({ reasoning_details: details = [], tool_calls: calls }: Message) =>
  details[0]?.signed_by ?? calls[0]?.extra_content?.signed_by;

const continueLoop = (router: RouterUnderTest, message: Message, signedBy = signerOf(message)) =>
  router.collect(
    generateRequest({
      bodyJson: bodyOf([
        question,
        message,
        { role: 'tool', tool_call_id: message.tool_calls[0]?.id, content: 'Sunny' },
      ]),
      signedBy,
    }),
  );

const unavailable: Script = failure(503);
const callsOf = ({ calls }: ScriptedProvider) => calls.map(({ text }) => text.includes(SIGNATURE));

describe.each(Object.keys(signedCall) as DialectName[])('a tool loop over %s', (dialect) => {
  const models = () => [
    model([
      provider('first', first.url, { dialect, maxAttempts: 1 }),
      provider('second', second.url, { dialect, maxAttempts: 1 }),
    ]),
  ];

  it('continues at the target that signed it, with the signature as it was', () =>
    withRouter(models(), async (router) => {
      first.play(unavailable);
      second.play(json(signedCall[dialect]));
      const message = await messageOf(router);
      expect(signerOf(message)).toBe('signer-second');
      first.play(json(signedCall[dialect]));
      second.play(json(signedCall[dialect]));
      await continueLoop(router, message);
      expect([callsOf(first), callsOf(second)]).toEqual([[], [true]]);
      expect(second.calls[0]?.text).not.toContain('signed_by');
    }));

  it('never sends the signature to another target', () =>
    withRouter(models(), async (router) => {
      first.play(unavailable);
      second.play(json(signedCall[dialect]), unavailable);
      const message = await messageOf(router);
      first.play(dialect === 'openai' ? helloCompletion : json(signedCall[dialect]));
      const { error } = await continueLoop(router, message);
      expect(error).toBeUndefined();
      expect(callsOf(second)).toEqual([false, true]);
      expect(callsOf(first)).toEqual([false]);
      expect(first.calls[0]?.text).not.toContain('signed_by');
    }));

  it('whose signature names no target continues at the first one', () =>
    withRouter(models(), async (router) => {
      first.play(json(signedCall[dialect]));
      const { signed, untagged } = untag(await messageOf(router));
      first.play(unavailable);
      second.play(dialect === 'openai' ? helloCompletion : json(signedCall[dialect]));
      await continueLoop(router, untagged, undefined);
      expect(signed).toBe(true);
      expect([callsOf(first), callsOf(second)]).toEqual([[true], [false]]);
    }));

  it('of a model with one target names none', () =>
    withRouter([model([provider('first', first.url, { dialect })])], async (router) => {
      first.play(json(signedCall[dialect]));
      const message = await messageOf(router);
      expect(JSON.stringify(message)).toContain(SIGNATURE);
      expect(signerOf(message)).toBeUndefined();
    }));
});

/** The message as of a client that drops the names of signers. */
function untag(message: Message): { readonly signed: boolean; readonly untagged: Message } {
  const text = JSON.stringify(message);
  const untagged = text.replaceAll(/,?"signed_by":"[a-z-]+"/g, '');
  return { signed: text !== untagged, untagged: JSON.parse(untagged) as Message };
}
