import { modelOf, upstreamModelOf, type BenchDialect } from './dialects/canned-dialects';

/** The settings of the provider of each dialect, beyond its name, address and limits. */
const PROVIDERS: Readonly<Record<BenchDialect, string>> = {
  openai: '',
  anthropic: 'preset: anthropic, api_key_env: BENCH_API_KEY, ',
  gemini: 'preset: google-ai-studio, api_key_env: BENCH_API_KEY, ',
  converse: 'preset: bedrock, region: eu-central-1, ',
};

/** A models file with one priced model per dialect at the bench's upstream. */
export function modelsFile(upstreamPort: number, dialects: readonly BenchDialect[]): string {
  const providers = dialects.map(
    (dialect) =>
      `  - { name: bench-${dialect}, ${PROVIDERS[dialect]}base_url: 'http://127.0.0.1:${upstreamPort}/v1', max_concurrent: 16384 }`,
  );
  const models = dialects.map(
    (dialect) => `  - id: ${modelOf(dialect)}
    targets:
      - provider: bench-${dialect}
        model: ${upstreamModelOf(dialect)}
    context_window: 1048576
    max_output_tokens: 16384
    capabilities: [vision]
    prices:
      input: '0.50'
      cached_input: '0.05'
      output: '1.50'
`,
  );
  return `providers:\n${providers.join('\n')}\nmodels:\n${models.join('')}`;
}
