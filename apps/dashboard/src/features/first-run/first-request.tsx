import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { liveQuery } from '../../api/balance';
import { latestGenerationsQuery } from '../../api/generations';
import { buttonClass, Spinner } from '../../ui/button';
import { Notice } from '../../ui/notice';
import { OneTimeSecret } from '../keys/one-time-secret';

interface FirstRequestProps {
  readonly organizationId: string;
  /** The new key's secret; undefined after a reload. */
  readonly secret: string | undefined;
}

/** Waits until the first request is settled, by polling the live figures. */
export function FirstRequest({ organizationId, secret }: FirstRequestProps) {
  const { data: live } = useQuery(liveQuery(organizationId));
  const { refetch } = useQuery(latestGenerationsQuery(organizationId));
  const newestId = live?.latest_generation_id;
  useEffect(() => {
    if (newestId) void refetch();
  }, [newestId, refetch]);
  return (
    <div className="grid min-w-0 gap-4">
      {secret === undefined ? (
        <Notice>
          Use your existing key, or try a model in the{' '}
          <Link
            to="/o/$organizationId/playground"
            params={{ organizationId }}
            className="text-accent underline underline-offset-2"
          >
            playground
          </Link>
          . To replace a lost key, go to{' '}
          <Link
            to="/o/$organizationId/keys"
            params={{ organizationId }}
            className="text-accent underline underline-offset-2"
          >
            Keys
          </Link>
          .
        </Notice>
      ) : (
        <OneTimeSecret secret={secret} of={{ allowed_models: null, scopes: ['chat'] }} />
      )}
      <p role="status" className="flex items-center gap-2 text-sm text-ink-soft">
        <Spinner /> Waiting for your first request…
      </p>
      <Link
        to="/o/$organizationId"
        params={{ organizationId }}
        className={`${buttonClass('quiet', true)} justify-self-start`}
      >
        Skip
      </Link>
    </div>
  );
}
