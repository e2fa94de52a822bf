import { execFileSync } from 'node:child_process';
import { apiTypes, type ApiType } from '@gateway/base';
import { clientSnippets } from './client-snippets';

const options = {
  baseUrl: 'http://127.0.0.1:8080/v1',
  apiKey: "sk-gw-it's",
  model: 'acme/m',
  embeddingModel: 'acme/e',
};
const of = (...served: ApiType[]) => clientSnippets({ ...options, apiTypes: served });
const textOf = (name: string) => of(...apiTypes).find((one) => one.name === name)?.text ?? '';

it('shows only what the deployment serves', () => {
  const names = (...served: ApiType[]) => of(...served).map(({ name }) => name);
  expect(names('completions')).toEqual(['OpenCode']);
  expect(names('completions', 'responses')).toEqual(['OpenCode', 'Codex']);
  expect(names('completions', 'messages')).toEqual(['OpenCode', 'Claude Code', 'Anthropic SDK']);
  expect(names('completions', 'embeddings')).toEqual(['OpenCode', 'Embeddings']);
  expect(
    clientSnippets({ ...options, apiTypes: ['completions', 'embeddings'], embeddingModel: undefined }),
  ).toHaveLength(1);
});

it('contains the model and the address in every one', () => {
  for (const { name, text } of of(...apiTypes)) {
    expect(text).toContain(name === 'Embeddings' ? 'acme/e' : 'acme/m');
    expect(text).toContain('http://127.0.0.1:8080');
  }
});

it('has no version in the address of Anthropic’s clients, which add it', () => {
  for (const name of ['Claude Code', 'Anthropic SDK']) expect(textOf(name)).not.toContain('/v1');
});

it('quotes the key for a shell', () => {
  const script = `${textOf('Claude Code').replace(/\nclaude$/, '')}\nprintf %s "$ANTHROPIC_AUTH_TOKEN"`;
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(options.apiKey);
});

it('is valid JSON for OpenCode', () => {
  const { model, provider } = JSON.parse(textOf('OpenCode').replace(/^.*\n/, '')) as {
    model: string;
    provider: { gateway: { models: object; options: object } };
  };
  expect(model).toBe('gateway/acme/m');
  expect(provider.gateway.models).toEqual({ 'acme/m': {} });
  expect(provider.gateway.options).toEqual({ baseURL: options.baseUrl, apiKey: options.apiKey });
});
