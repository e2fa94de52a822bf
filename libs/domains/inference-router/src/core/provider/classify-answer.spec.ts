import { model, provider } from '../../testing/router-under-test';
import type { Target } from '../catalogue/model-catalogue';
import {
  ASKED_MODEL,
  faulty,
  tooLong,
  unknownModel,
  type RefusalFixture,
} from '../failure/provider-answers.fixture';
import { classifyAnswer, classifyErrorObject } from './classify-answer';

const asked = model([provider('acme', 'http://10.0.0.1:8000/v1')]);
const target: Target = { ...(asked.targets[0] as Target), providerModel: ASKED_MODEL };
const size = { estimatedInputTokens: 10, maxOutputTokens: 5 };
const classify = ({ status, body }: RefusalFixture) =>
  classifyAnswer(status, JSON.stringify(body), undefined, target, asked, size);

describe.each(tooLong.map((fixture) => [fixture.server, fixture] as const))('%s', (_server, fixture) => {
  it('is understood when it says that a request is too long', () => {
    expect(classify(fixture)).toMatchObject({
      kind: 'context_too_long',
      publicMessage: expect.stringMatching(/^This model's maximum context length is 8192 tokens\. However,/),
    });
  });

  it('is understood when it says so in the middle of a stream', () => {
    expect(classifyErrorObject(fixture.body, target, asked, size)).toMatchObject({
      kind: 'context_too_long',
    });
  });
});

it.each(unknownModel.map((fixture) => [fixture.server, fixture] as const))(
  '%s refusing our name for the model is our fault, and no caller learns why',
  (_server, fixture) => {
    const failure = classify(fixture);
    expect(failure).toMatchObject({ kind: 'misconfigured', publicMessage: undefined });
    expect(failure.rule).toMatchObject({ code: 'upstream_config_error', tryNextTarget: true });
  },
);

it.each(faulty.map((fixture) => [fixture.server, fixture] as const))(
  'a refusal %s is the request’s fault',
  (_server, fixture) => {
    expect(classify(fixture)).toMatchObject({ kind: 'rejected' });
  },
);

it('tells the operator the provider’s own words and the address that was called, without keys', () => {
  const { message } = classify({
    server: 'a server',
    status: 400,
    body: {
      error: { message: 'Bad rate limit at /srv/models/x for key sk-provider-secret-1234567890\nof acme' },
    },
  });
  expect(message).toBe(
    'acme: HTTP 400 from http://10.0.0.1:8000/v1/chat/completions: Bad rate limit at /srv/models/x for key [removed] of acme',
  );
});

it.each([503, 529])('a %d is a lack of capacity, after the other targets were tried', (status) => {
  const { rule } = classifyAnswer(status, '', undefined, target, asked, size);
  expect(rule).toMatchObject({ code: 'no_capacity', tryNextTarget: true, retrySameTarget: 'yes' });
});
