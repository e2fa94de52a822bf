import path from 'node:path';

const bin = (...parts) => path.join('node_modules', ...parts);
const BUF = bin('@bufbuild', 'buf', 'bin', 'buf');

/** The static checks. `npm test` runs all of them; those with a name are commands of their own, too. */
export const CHECKS = [
  { title: 'Contracts: buf lint', script: BUF, args: ['lint'] },
  { title: 'Contracts: buf format', script: BUF, args: ['format', '--diff', '--exit-code'] },
  {
    name: 'typecheck',
    title: 'Types',
    script: bin('typescript', 'bin', 'tsc'),
    args: ['--noEmit', '-p', 'tsconfig.json'],
  },
  {
    name: 'typecheck',
    title: 'Types of the dashboard',
    script: bin('typescript', 'bin', 'tsc'),
    args: ['--noEmit', '-p', 'apps/dashboard/tsconfig.json'],
  },
  {
    name: 'lint',
    title: 'Lint',
    script: bin('eslint', 'bin', 'eslint.js'),
    args: ['--max-warnings=0'],
    on: ['.'],
  },
  {
    title: 'Format',
    script: bin('prettier', 'bin', 'prettier.cjs'),
    args: ['--check', '--log-level=warn', '.'],
  },
];

/** Services of two versions run beside each other during a roll-out, so contracts only grow. */
export const contractsAgainst = (commit) => ({
  title: 'Contracts: nothing that was there is gone or changed',
  script: BUF,
  args: ['breaking', '--against', `.git#ref=${commit}`],
});

/** Its arguments: for what is asked, or for the whole tree. */
export function argumentsOf({ args, on = [] }, asked = []) {
  return [...args, ...(asked.length > 0 ? asked : on)];
}
