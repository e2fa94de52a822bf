#!/usr/bin/env -S node --max-semi-space-size=32
// The command of the npm package, which contains ../lib and ../dist: `npx inference-gateway`.
import { constants, copyFileSync, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nodeProblem } from '../lib/node-problem.mjs';
import { runGateway } from '../lib/run-gateway.mjs';

const inPackage = (file) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const MODELS_FILE = 'models.yaml';

/** The models of the demo: in the current folder, where they can be changed; a check only reads them. */
function provideModels() {
  const { GATEWAY_MODELS_FILE, GATEWAY_MODELS_FILE_FILE, GATEWAY_CATALOGUE } = process.env;
  if (GATEWAY_MODELS_FILE ?? GATEWAY_MODELS_FILE_FILE ?? existsSync(MODELS_FILE)) return;
  if (GATEWAY_CATALOGUE === 'database') return;
  const runs = process.argv.length === 2;
  if (runs) copyFileSync(inPackage(MODELS_FILE), MODELS_FILE, constants.COPYFILE_EXCL);
  else process.env.GATEWAY_MODELS_FILE = inPackage(MODELS_FILE);
}

const problem = nodeProblem();
if (problem === undefined) {
  provideModels();
  runGateway(inPackage('dist/gateway/main.js'));
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
