import { ApiError } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../api/client';
import { counted } from '../../format/count';
import { messageOf } from '../../ui/states';
import { Money } from '../../ui/values';
import type { RequestBody } from './request';

const TYPING_MS = 400;

/** The most that the request can cost, as the public API would hold for it. */
export function Estimate({
  organizationId,
  body,
}: {
  readonly organizationId: string;
  readonly body: RequestBody | undefined;
}) {
  const settled = useSettled(body);
  const estimate = useQuery({
    queryKey: ['estimate', organizationId, JSON.stringify(settled)],
    queryFn: ({ signal }) =>
      api.call('POST /api/organizations/{organization_id}/playground/estimate', {
        params: { organization_id: organizationId },
        body: { request: settled ?? {} },
        signal,
      }),
    enabled: settled !== undefined,
    retry: false,
  });
  if (settled === undefined) return <span>Write something to see what it can cost at most.</span>;
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
  if (!estimate.data) return <span>Working out what it can cost…</span>;
  const {
    max_cost_usd: most,
    estimated_input_tokens: input,
    max_output_tokens: output,
    affordable,
  } = estimate.data;
  return (
    <span className={affordable ? undefined : 'text-bad'}>
      At most <Money usd={most} className="font-medium" />: {counted(input, 'token')} in, up to{' '}
      {counted(output, 'token')} out.{!affordable && ' That is more than is available.'}
    </span>
  );
}

/** The last value that stood for a moment. */
function useSettled(body: RequestBody | undefined): RequestBody | undefined {
  const [settled, setSettled] = useState(body);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(body), TYPING_MS);
    return () => clearTimeout(timer);
  }, [body]);
  return settled;
}
