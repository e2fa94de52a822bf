import { capture } from './run.mjs';

/**
 * The commit that the contracts must not break with: where this branch left
 * main, or on main itself the commit before. Undefined where there is no
 * history, as in an archive or a shallow clone.
 */
export async function contractBaseline() {
  const head = await git('rev-parse', 'HEAD');
  const base = (await git('merge-base', 'HEAD', 'origin/main')) ?? (await git('merge-base', 'HEAD', 'main'));
  return base === undefined || base === head ? git('rev-parse', 'HEAD~1') : base;
}

async function git(...args) {
  try {
    const { code, output } = await capture('git', args);
    return code === 0 ? output.trim() : undefined;
  } catch {
    // There is no git.
    return undefined;
  }
}
