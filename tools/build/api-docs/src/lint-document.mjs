// Lints the OpenAPI document on its standard input with the recommended rules and prints the problems. A separate program,
// since the linter is an ES module and jest loads CommonJS.
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const problems = await lintFromString({
  source: readFileSync(0, 'utf8'),
  absoluteRef: 'openapi.json',
  config: await createConfig({ extends: ['recommended'] }),
});
const lines = problems.map(
  ({ ruleId, severity, location: [place] }) => `${ruleId} ${severity} ${place?.pointer ?? ''}`,
);
process.stdout.write(JSON.stringify(lines));
