import { CatalogueError, parseCatalogue } from './parse-catalogue';

const secrets = { fromEnvironment: () => 'sk-key', fromFile: () => undefined };
const options = { version: 1, variables: {}, secrets };

function text(model: string, dialect = 'openai', name = 'embed-1'): string {
  return `
providers:
  - { name: p, base_url: "https://p.example/v1", dialect: ${dialect} }
models:
  - id: a/b
    targets: [{ provider: p, model: "${name}", cost: { input: "0.01" } }]
    context_window: 8192
    ${model}
`;
}

const EMBEDDING = 'kind: embedding\n    dimensions: [1536, 256]\n    prices: { input: "0.02" }';

function issuesOf(document: string): readonly string[] {
  try {
    parseCatalogue(document, options);
  } catch (error) {
    if (error instanceof CatalogueError) return error.issues;
    throw error;
  }
  return [];
}

it('reads an embedding model, which has neither an output limit nor a price of output', () => {
  const model = parseCatalogue(text(EMBEDDING), options).models.get('a/b');
  expect(model).toMatchObject({
    embeddingDimensions: [1_536, 256],
    contextLength: 8_192,
    maxOutputTokens: 0,
  });
  expect(model?.prices).toMatchObject({
    inputNanoUsdPerMillion: 20_000_000n,
    outputNanoUsdPerMillion: 0n,
    tiers: [],
  });
  expect(model?.targets[0]?.cost?.outputNanoUsdPerMillion).toBe(0n);
});

it('reads a model of no kind as a chat model', () => {
  const chat = 'max_output_tokens: 10\n    prices: { input: "0.02", output: "0.1" }';
  const document = text(chat).replace('cost: { input: "0.01" }', 'weight: 1').replace(', weight: 1', '');
  expect(parseCatalogue(document, options).models.get('a/b')?.embeddingDimensions).toBeUndefined();
});

it.each([
  [EMBEDDING.replace(/dimensions.*\n\s*/, ''), 'models[0].dimensions'],
  [EMBEDDING.replace('256', '1536'), 'models[0].dimensions'],
  [`${EMBEDDING}\n    max_output_tokens: 100`, 'models[0].max_output_tokens'],
  [`${EMBEDDING}\n    capabilities: [tools]`, 'models[0].capabilities'],
  [EMBEDDING.replace('"0.02"', '"0.02", output: "1"'), 'models[0].prices'],
  [EMBEDDING.replace('kind: embedding', 'max_output_tokens: 10'), 'models[0].prices.output'],
])('refuses %j', (model, path) => {
  expect(issuesOf(text(model))).toContainEqual(expect.stringContaining(path));
});

it('refuses dimensions of a chat model', () => {
  const chat = 'dimensions: [8]\n    max_output_tokens: 10\n    prices: { input: "0.02", output: "0.1" }';
  const document = text(chat).replace(', cost: { input: "0.01" }', '');
  expect(issuesOf(document)).toEqual([expect.stringContaining('needs "kind: embedding"')]);
});

it.each([
  ['anthropic', 'claude', 'models[0].targets[0].provider', 'has no embeddings'],
  ['converse', 'amazon.nova-pro-v1:0', 'models[0].targets[0].model', 'is not a model of Titan'],
  ['converse', 'amazon.titan-embed-image-v1', 'models[0].targets[0].model', 'is not a model of Titan'],
])('refuses a target of the dialect %s that has no embeddings: %s', (dialect, name, path, problem) => {
  const issues = issuesOf(text(EMBEDDING, dialect, name));
  expect(issues).toEqual([expect.stringMatching(new RegExp(problem))]);
  expect(issues[0]).toContain(path);
});

it.each([
  ['gemini', 'gemini-embedding-001'],
  ['converse', 'amazon.titan-embed-text-v2:0'],
  ['converse', 'eu.cohere.embed-v4:0'],
])('accepts a target of the dialect %s: %s', (dialect, name) => {
  expect(issuesOf(text(EMBEDDING, dialect, name))).toEqual([]);
});
