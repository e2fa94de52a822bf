// `npm run kubernetes -- --context NAME`: installs the chart's demo on a cluster and verifies it step by step.
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('kubernetes', ['kubernetes', 'e2e']);
