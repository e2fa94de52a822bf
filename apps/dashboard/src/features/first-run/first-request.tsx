import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { liveQuery } from '../../api/balance';
import { latestGenerationsQuery } from '../../api/generations';
import { buttonClass, Spinner } from '../../ui/button';
import { Notice } from '../../ui/notice';
import { SecretOnce } from '../keys/secret-once';

interface FirstRequestProps {
  readonly organizationId: string;
  /** Of the key that was made on this page; absent when the page was loaded again since. */
  readonly secret: string | undefined;
}

/** Waits for the first request to be settled, by the figures that move. */
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
          Use the key that was made before, or try a model in the{' '}
          <Link
            to="/o/$organizationId/playground"
            params={{ organizationId }}
            className="text-accent underline underline-offset-2"
          >
            playground
          </Link>
          . A key that is lost can be replaced on the page of{' '}
          <Link
            to="/o/$organizationId/keys"
            params={{ organizationId }}
            className="text-accent underline underline-offset-2"
          >
            keys
          </Link>
          .
        </Notice>
      ) : (
        <SecretOnce secret={secret} />
      )}
      <p role="status" className="flex items-center gap-2 text-sm text-ink-soft">
        <Spinner /> Waiting for the first request. This page goes on by itself.
      </p>
      <Link
        to="/o/$organizationId"
        params={{ organizationId }}
        className={`${buttonClass('quiet', true)} justify-self-start`}
      >
        Later
      </Link>
    </div>
  );
}
