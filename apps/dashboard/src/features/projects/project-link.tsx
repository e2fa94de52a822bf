import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Text } from '../../ui/values';

interface ProjectLinkProps {
  readonly organizationId: string;
  readonly projectId: string;
  readonly className?: string;
  /** The name, or the ID while the name is unknown. */
  readonly children: string;
}

/** A project, linked to its page. */
export function ProjectLink({
  organizationId,
  projectId,
  className = 'text-accent hover:underline',
  children,
}: ProjectLinkProps): ReactNode {
  return (
    <Link
      to="/o/$organizationId/projects/$projectId"
      params={{ organizationId, projectId }}
      className={className}
    >
      <Text>{children}</Text>
    </Link>
  );
}
