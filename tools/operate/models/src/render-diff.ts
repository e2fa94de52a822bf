import { formatUsd, nanoUsd } from '@gateway/base';
import type { PriceDifference, TargetComparison } from '@gateway/inference-router';

type Compared = Extract<TargetComparison, { result: 'compared' }>;

/** The report of `diff`, and whether any price differs. */
export function renderDiff(
  comparisons: readonly TargetComparison[],
  sourceName: string,
): { readonly lines: readonly string[]; readonly differs: boolean } {
  const compared = comparisons.filter((each) => each.result === 'compared');
  const different = compared.filter(({ differences }) => differences.length > 0);
  const unusable = comparisons.filter((each) => each.result === 'unusable');
  const unknown = comparisons.filter(({ result }) => result === 'unknown');
  const summary = `${different.length} of ${compared.length} compared targets differ from ${sourceName}.`;
  return {
    differs: different.length > 0,
    lines: [
      ...different.flatMap((each) => [
        `${nameOf(each)}: ${each.compared}, in US dollars per million tokens`,
        ...each.differences.map((difference) => `  ${differenceText(difference)}`),
      ]),
      ...section('Announced changes:', compared.flatMap(upcomingLines)),
      ...section(
        'Set in the file, but not in the price data:',
        compared.flatMap((each) => each.unconfirmed.map((price) => `${nameOf(each)}: ${price}`)),
      ),
      ...section(
        'In the price data, but not expressible in models.yaml:',
        compared.flatMap((each) => each.notes.map((note) => `${nameOf(each)}: ${note}`)),
      ),
      ...section(
        'Not compared:',
        unusable.map((each) => `${nameOf(each)}: ${each.reason}`),
      ),
      ...section('Not in the price data:', unknown.map(nameOf)),
      summary,
    ],
  };
}

function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [heading, ...lines.map((line) => `  ${line}`)];
}

function nameOf({ model, target }: TargetComparison): string {
  return `${model.id} (${target.provider.name}, ${target.providerModel})`;
}

function upcomingLines(compared: Compared): string[] {
  return compared.upcoming.flatMap(({ from, differences }) =>
    differences.map((difference) => `${nameOf(compared)} from ${from}: ${differenceText(difference)}`),
  );
}

function differenceText(difference: PriceDifference): string {
  const { price, abovePromptTokens, currentNanoUsdPerMillion, publishedNanoUsdPerMillion } = difference;
  const above = abovePromptTokens === 0 ? '' : ` above ${abovePromptTokens} prompt tokens`;
  const [current, published] = [currentNanoUsdPerMillion, publishedNanoUsdPerMillion].map((amount) =>
    formatUsd(nanoUsd(amount)),
  );
  return `${price}${above}: ${current} → ${published}`;
}
