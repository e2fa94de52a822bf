import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import type { PasswordStrength } from '../../core/ports';

/** Variants such as `p4ssw0rd` of one text. The default of 100 uses six times the CPU on a text made for it. */
const MAX_SUBSTITUTIONS = 10;
const PERSONAL_WORDS = 'userInputs';

/** zxcvbn with 49,000 leaked passwords and 8,000 common words. Loaded on first use: it occupies 40 MB. */
export function createZxcvbnPasswordStrength(): PasswordStrength {
  let loaded: Promise<ZxcvbnFactory> | undefined;
  return {
    async estimate(password, personalWords) {
      loaded ??= load();
      const { guesses, sequence } = (await loaded).check(password, [...personalWords]);
      const [only] = sequence;
      const isWholeWord = sequence.length === 1 && only?.pattern === 'dictionary';
      return { guesses, leaked: isWholeWord && only.dictionaryName !== PERSONAL_WORDS };
    },
  };
}

async function load(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({
    dictionary,
    graphs: adjacencyGraphs,
    l33tMaxSubstitutions: MAX_SUBSTITUTIONS,
  });
}
