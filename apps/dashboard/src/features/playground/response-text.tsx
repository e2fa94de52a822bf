import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { visibleText } from '../../format/invisible-characters';

/** A model's text, as Markdown once the code for it is loaded. */
export function ResponseText({ text, done }: { readonly text: string; readonly done: boolean }) {
  const { data: code } = useQuery({
    queryKey: ['markdown-code'],
    queryFn: () => import('./markdown'),
    staleTime: Infinity,
    structuralSharing: false,
  });
  // Parsing does not delay the page while a response streams.
  const deferred = useDeferredValue(text);
  return (
    <div dir="auto" aria-live="polite" aria-busy={!done} className="min-w-0 [overflow-wrap:anywhere]">
      {code ? (
        <code.Markdown text={deferred} />
      ) : (
        <div className="whitespace-pre-wrap">{visibleText(text)}</div>
      )}
    </div>
  );
}
