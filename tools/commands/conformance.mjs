// `npm run conformance -- --base-url …`: tests a running gateway against the public contract.
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('conformance', ['e2e']);
