import { ApiError } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../api/client';
import { counted } from '../../format/count';
import { messageOf } from '../../ui/states';
import { Money } from '../../ui/values';
import type { RequestBody } from './request';

const DEBOUNCE_MS = 400;

/** The maximum cost of the request, which the public API would hold. */
export function Estimate({
  organizationId,
  body,
}: {
  readonly organizationId: string;
  readonly body: RequestBody | undefined;
}) {
  const debounced = useDebounced(body);
  const estimate = useQuery({
    queryKey: ['estimate', organizationId, JSON.stringify(debounced)],
    queryFn: ({ signal }) =>
      api.call('POST /api/organizations/{organization_id}/playground/estimate', {
        params: { organization_id: organizationId },
        body: { request: debounced ?? {} },
        signal,
      }),
    enabled: debounced !== undefined,
    retry: false,
  });
  if (debounced === undefined) return <span>Enter a message to see the maximum cost.</span>;
  if (estimate.error) {
    return (
      <span
        className={
          estimate.error instanceof ApiError && estimate.error.code === 'invalid' ? 'text-bad' : undefined
        }
      >
        {messageOf(estimate.error)}
      </span>
    );
  }
  if (!estimate.data) return <span>Estimating cost…</span>;
  const {
    max_cost_usd: maxCost,
    estimated_input_tokens: input,
    max_output_tokens: output,
    affordable,
  } = estimate.data;
  return (
    <span className={affordable ? undefined : 'text-bad'}>
      Max <Money usd={maxCost} className="font-medium" /> for {counted(input, 'input token')} and up to{' '}
      {counted(output, 'output token')}.{!affordable && ' Exceeds your available balance.'}
    </span>
  );
}

/** The value after a pause in typing. */
function useDebounced(body: RequestBody | undefined): RequestBody | undefined {
  const [debounced, setDebounced] = useState(body);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(body), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [body]);
  return debounced;
}
