import type { Result } from '@gateway/dashboard-contract/client';
import { percent } from '../../format/count';
import { nanoUsdOf } from '../../format/money';
import { Money } from '../../ui/values';

export type KnownMargin = NonNullable<Result<'GET /api/operator/usage'>['margin']>;

/** The margin, and its share of the spend of the same requests. */
export function Margin({ of: { margin_usd: usd, spend_usd: spend } }: { readonly of: KnownMargin }) {
  const share = shareOf(usd, spend);
  return (
    <>
      <Money usd={usd} />
      {share !== undefined && <span className="ml-1.5 text-xs text-ink-faint">{percent(share)}</span>}
    </>
  );
}

/** Says how much of all spend the margin covers. */
export function marginNote(margin: KnownMargin | null, allSpend: string): string {
  const share = shareOf(margin?.spend_usd ?? '0', allSpend);
  if (share === undefined) return 'No spend yet';
  if (share === 1) return 'Of all spend';
  return margin === null ? 'No target has a cost' : `Cost known for ${percent(share)} of spend`;
}

function shareOf(part: string, whole: string): number | undefined {
  const size = Number(nanoUsdOf(whole));
  return size === 0 ? undefined : Number(nanoUsdOf(part)) / size;
}
