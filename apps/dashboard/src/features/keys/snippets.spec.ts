import { execFileSync } from 'node:child_process';
import { snippets } from './snippets';

const options = { baseUrl: 'http://127.0.0.1:8080/v1', apiKey: 'sk-gw-secret', model: 'acme/m' };
const textOf = (name: string, request?: Record<string, unknown>) =>
  snippets({ ...options, ...(request ? { request } : {}) }).find((one) => one.name === name)?.text ?? '';

it('contains key, base URL and model in every language', () => {
  for (const { text } of snippets(options)) {
    expect(text).toContain(options.apiKey);
    expect(text).toContain(options.baseUrl);
    expect(text).toContain(options.model);
  }
});

it('quotes prompts safely for a shell', () => {
  const prompt = `it's $(touch /tmp/never) \`id\` "quoted" \\ end`;
  const text = textOf('curl', { messages: [{ role: 'user', content: prompt }] });
  const printed = execFileSync('sh', ['-c', text.replace(/^curl/, `printf '%s\\n'`)], { encoding: 'utf8' });
  const body = printed.slice(printed.indexOf('{'));
  expect((JSON.parse(body) as { messages: { content: string }[] }).messages[0]?.content).toBe(prompt);
});

it('writes Python literals', () => {
  const text = textOf('Python', { messages: [], stream: true, tools: null, options: { a: [false] } });
  expect(text).toContain('stream=True,');
  expect(text).toContain('tools=None,');
  expect(text).toContain('options={"a": [False]},');
});
