import type { UsageMetrics } from '../../api/usage';
import { count, percent } from '../../format/count';
import { estimatedDuration } from '../../format/time';
import { Figure, Figures } from '../../ui/page';
import { Money } from '../../ui/values';

export function UsageTotals({ totals }: { readonly totals: UsageMetrics }) {
  return (
    <Figures>
      <Figure label="Spend">
        <Money usd={totals.spend_usd} />
      </Figure>
      <Figure label="Requests" note={`${count(totals.cancelled)} cancelled`}>
        {count(totals.requests)}
      </Figure>
      <Figure
        label="Input tokens"
        note={`${count(totals.cached_tokens)} cached, ${count(totals.cache_write_tokens + totals.cache_write_1h_tokens)} written to cache`}
      >
        {count(totals.prompt_tokens)}
      </Figure>
      <Figure label="Output tokens">{count(totals.completion_tokens)}</Figure>
      <Figure
        label="Errors"
        note={totals.requests > 0 ? `${percent(totals.errors / totals.requests)} of requests` : undefined}
      >
        {count(totals.errors)}
      </Figure>
      <Figure label="Refused" note="No generation">
        {count(totals.refused)}
      </Figure>
      <Figure
        label="p50 latency"
        note={
          totals.time_to_first_token && `First token ${estimatedDuration(totals.time_to_first_token.p50_ms)}`
        }
      >
        {totals.duration ? estimatedDuration(totals.duration.p50_ms) : '—'}
      </Figure>
    </Figures>
  );
}
