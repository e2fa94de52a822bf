import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Project } from '../../api/projects';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { useToast } from '../../ui/toast';
import { Text, visible } from '../../ui/values';

interface ArchiveProjectProps {
  readonly of: Project;
  readonly small?: boolean;
}

export function ArchiveProject({ of: project, small = false }: ArchiveProjectProps) {
  const [open, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const toast = useToast();
  const archive = useMutation({
    mutationFn: () =>
      api.call('POST /api/organizations/{organization_id}/projects/{project_id}/archive', {
        params: { organization_id: project.organization_id, project_id: project.id },
      }),
    onSuccess: async () => {
      setOpen(false);
      toast('Project archived.');
      await queryClient.invalidateQueries({ queryKey: ['projects', project.organization_id] });
    },
  });
  return (
    <>
      <Button small={small} aria-label={`Archive ${visible(project.name)}`} onClick={() => setOpen(true)}>
        Archive
      </Button>
      <Confirm
        danger
        open={open}
        onOpenChange={setOpen}
        title="Archive project?"
        action="Archive project"
        of={archive}
        onConfirm={() => archive.mutate()}
      >
        <p>
          No key can belong to <Text className="font-medium text-ink">{project.name}</Text> any more. Move or
          revoke its keys first. Its usage stays. This can’t be undone.
        </p>
      </Confirm>
    </>
  );
}
