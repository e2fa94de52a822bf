export interface SnippetFacts {
  /** Of the public API, with /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  /** The body besides the model; a greeting when absent. */
  readonly request?: Readonly<Record<string, unknown>>;
}

type Body = Readonly<Record<string, unknown>>;

const GREETING = { messages: [{ role: 'user', content: 'Hello!' }] };

/** The same request as three programs write it. All values are quoted as their language wants it. */
export function snippets(facts: SnippetFacts): readonly { readonly name: string; readonly text: string }[] {
  const body: Body = { model: facts.model, ...(facts.request ?? GREETING) };
  return [
    { name: 'curl', text: curl(facts, body) },
    { name: 'Node', text: node(facts, body) },
    { name: 'Python', text: python(facts, body) },
  ];
}

function curl({ baseUrl, apiKey }: SnippetFacts, body: Body): string {
  return [
    `curl ${shell(`${baseUrl}/chat/completions`)} \\`,
    `  -H ${shell(`Authorization: Bearer ${apiKey}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shell(JSON.stringify(body, null, 2).replaceAll('\n', '\n  '))}`,
  ].join('\n');
}

function node({ baseUrl, apiKey }: SnippetFacts, body: Body): string {
  const use =
    body['stream'] === true
      ? "for await (const chunk of answer) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');"
      : 'console.log(answer.choices[0].message.content);';
  return `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: ${JSON.stringify(baseUrl)},
  apiKey: ${JSON.stringify(apiKey)},
});
const answer = await client.chat.completions.create(${JSON.stringify(body, null, 2)});
${use}`;
}

function python({ baseUrl, apiKey }: SnippetFacts, body: Body): string {
  const use =
    body['stream'] === true
      ? 'for chunk in answer:\n    if chunk.choices:\n        print(chunk.choices[0].delta.content or "", end="")'
      : 'print(answer.choices[0].message.content)';
  const fields = Object.entries(body).map(([name, value]) => `    ${name}=${pythonValue(value)},`);
  return `from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=${JSON.stringify(apiKey)})
answer = client.chat.completions.create(
${fields.join('\n')}
)
${use}`;
}

/** In single quotes nothing has a meaning but the quote itself. */
function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON's texts and numbers are Python's, too; its three words are not. */
function pythonValue(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(
      ([name, one]) => `${JSON.stringify(name)}: ${pythonValue(one)}`,
    );
    return `{${entries.join(', ')}}`;
  }
  return JSON.stringify(value);
}
