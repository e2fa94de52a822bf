import { ApiError, type Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { contentLogQuery } from '../../api/content-log';
import { usePermission } from '../../api/session';
import { exactTime } from '../../format/time';
import { Button } from '../../ui/button';
import { Code } from '../../ui/code';
import { Confirm } from '../../ui/confirm';
import { Section } from '../../ui/page';
import { FailureLine } from '../../ui/states';
import { useToast } from '../../ui/toast';

type Content =
  Result<'POST /api/organizations/{organization_id}/generations/{generation_id}/content'>['content'];

interface ContentSectionProps {
  readonly organizationId: string;
  readonly generationId: string;
}

/** The prompt and response, for owners. They are read only on request, since each access is in the audit log. */
export function ContentSection({ organizationId, generationId }: ContentSectionProps) {
  const mayRead = usePermission(organizationId)('content_log:manage');
  const log = useQuery({ ...contentLogQuery(organizationId), enabled: mayRead });
  const [content, setContent] = useState<Content>();
  const [erasing, setErasing] = useState(false);
  const toast = useToast();
  const params = { organization_id: organizationId, generation_id: generationId };
  const read = useMutation({
    mutationFn: () =>
      api.call('POST /api/organizations/{organization_id}/generations/{generation_id}/content', { params }),
    onSuccess: (read) => setContent(read.content),
  });
  const erase = useMutation({
    mutationFn: () =>
      api.call('DELETE /api/organizations/{organization_id}/generations/{generation_id}/content', { params }),
    onSuccess: () => {
      setContent(undefined);
      setErasing(false);
      toast('The prompt and response were erased.');
    },
  });
  if (!mayRead || !log.data?.available) return null;
  const isMissing = read.error instanceof ApiError && read.error.code === 'not_found';
  return (
    <Section
      title="Prompt and response"
      description="Each time they are shown is in the audit log."
      actions={
        content ? (
          <>
            <Button small onClick={() => setContent(undefined)}>
              Hide
            </Button>
            <Button small kind="danger" onClick={() => setErasing(true)}>
              Erase
            </Button>
          </>
        ) : (
          <Button small busy={read.isPending} onClick={() => read.mutate()}>
            Show
          </Button>
        )
      }
    >
      {content && (
        <div className="grid gap-4">
          <Part name="Prompt" text={content.request} isCut={content.request_cut} />
          {content.response === null ? (
            <p className="text-sm text-ink-soft">There is no response.</p>
          ) : (
            <Part name="Response" text={content.response} isCut={content.response_cut} />
          )}
          <p className="text-sm text-ink-soft">Stored until {exactTime(content.expires_at)}.</p>
        </div>
      )}
      {isMissing && !content && (
        <p className="text-sm text-ink-soft">
          {log.data.enabled
            ? 'Nothing is stored for this generation.'
            : 'Nothing is stored: the content log is off.'}
        </p>
      )}
      {read.error && !isMissing && <FailureLine error={read.error} />}
      <Confirm
        danger
        open={erasing}
        onOpenChange={setErasing}
        title="Erase this prompt and response?"
        action="Erase"
        of={erase}
        onConfirm={() => erase.mutate()}
      >
        <p>They cannot be restored. The generation and its charge stay.</p>
      </Confirm>
    </Section>
  );
}

interface PartProps {
  readonly name: string;
  readonly text: string;
  readonly isCut: boolean;
}

function Part({ name, text, isCut }: PartProps) {
  return (
    <div className="grid min-w-0 gap-1">
      <h3 className="text-sm font-medium">
        {name}
        {isCut && <span className="font-normal text-ink-soft"> (truncated: it was too long)</span>}
      </h3>
      <Code wrap text={indented(text)} what={name.toLowerCase()} />
    </div>
  );
}

/** A text that was cut is not valid JSON. */
function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
