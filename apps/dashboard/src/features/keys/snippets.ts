export interface SnippetOptions {
  /** The public API's URL, with /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  /** The body without the model; a greeting by default. */
  readonly request?: Readonly<Record<string, unknown>>;
}

export interface Snippet {
  readonly name: string;
  readonly text: string;
}

type Body = Readonly<Record<string, unknown>>;

const GREETING = { messages: [{ role: 'user', content: 'Hello!' }] };

/** The request as code in three languages, with properly quoted values. */
export function snippets(options: SnippetOptions): readonly Snippet[] {
  const body: Body = { model: options.model, ...(options.request ?? GREETING) };
  return [
    { name: 'curl', text: curl(options, body) },
    { name: 'Node', text: node(options, body) },
    { name: 'Python', text: python(options, body) },
  ];
}

function curl({ baseUrl, apiKey }: SnippetOptions, body: Body): string {
  return [
    `curl ${shell(`${baseUrl}/chat/completions`)} \\`,
    `  -H ${shell(`Authorization: Bearer ${apiKey}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shell(JSON.stringify(body, null, 2).replaceAll('\n', '\n  '))}`,
  ].join('\n');
}

function node({ baseUrl, apiKey }: SnippetOptions, body: Body): string {
  const use =
    body['stream'] === true
      ? "for await (const chunk of response) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');"
      : 'console.log(response.choices[0].message.content);';
  return `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: ${JSON.stringify(baseUrl)},
  apiKey: ${JSON.stringify(apiKey)},
});
const response = await client.chat.completions.create(${JSON.stringify(body, null, 2)});
${use}`;
}

function python({ baseUrl, apiKey }: SnippetOptions, body: Body): string {
  const use =
    body['stream'] === true
      ? 'for chunk in response:\n    if chunk.choices:\n        print(chunk.choices[0].delta.content or "", end="")'
      : 'print(response.choices[0].message.content)';
  const fields = Object.entries(body).map(([name, value]) => `    ${name}=${pythonValue(value)},`);
  return `from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=${JSON.stringify(apiKey)})
response = client.chat.completions.create(
${fields.join('\n')}
)
${use}`;
}

/** Quotes for a POSIX shell. */
export function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Formats JSON as a Python literal. */
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
