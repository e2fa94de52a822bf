import { build } from './nx.mjs';
import { exitOnFailure, runVisibly } from './run.mjs';

/** Builds projects, then runs a program in dist/ with this command's arguments. */
export async function runBuilt(program, projects, failedCode = 1) {
  try {
    await build(...projects);
    const args = [`dist/${program}/main.js`, ...process.argv.slice(2)];
    process.exitCode = await runVisibly(process.execPath, args);
  } catch (error) {
    exitOnFailure(error, failedCode);
  }
}
