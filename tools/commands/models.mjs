// `npm run models -- add PROVIDER/MODEL | diff`: writes entries of models.yaml from published prices, or compares them.
import { runBuilt } from './lib/run-built.mjs';

/** 1 reports different prices. */
const FAILED = 2;

await runBuilt('models', ['models'], FAILED);
