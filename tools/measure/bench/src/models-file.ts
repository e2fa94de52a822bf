import { MODEL, UPSTREAM_MODEL } from './canned';

/** A models file with one priced model at the bench's upstream. */
export function modelsFile(upstreamPort: number): string {
  return `providers:
  - { name: bench, base_url: 'http://127.0.0.1:${upstreamPort}/v1', max_concurrent: 16384 }
models:
  - id: ${MODEL}
    targets:
      - provider: bench
        model: ${UPSTREAM_MODEL}
    context_window: 1048576
    max_output_tokens: 16384
    capabilities: [vision]
    prices:
      input: '0.50'
      cached_input: '0.05'
      output: '1.50'
`;
}
