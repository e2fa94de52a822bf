import type { MailContent } from '@gateway/base';

const TEXT = 'margin:0 0 16px';
const FAINT = 'margin:0 0 8px;color:#5b616e;font-size:13px';

/** The content as HTML without images, scripts or style sheets, which mail clients block. */
export function mailHtml({ subject, paragraphs, facts = [], link, notes = [] }: MailContent): string {
  const rows = facts.map(
    ([name, value]) =>
      `<tr><td style="padding:4px 16px 4px 0;color:#5b616e">${escape(name)}</td><td style="padding:4px 0">${escape(value)}</td></tr>`,
  );
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escape(subject)}</title></head>`,
    '<body style="margin:0;padding:24px;background:#f6f6f4;color:#1c1e21;font:15px/1.5 system-ui,sans-serif">',
    '<div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border:1px solid #dcdcd8;border-radius:8px">',
    '<p style="margin:0 0 16px;font-size:13px;color:#5b616e">Inference Gateway</p>',
    `<h1 style="margin:0 0 16px;font-size:18px;line-height:1.3">${escape(subject)}</h1>`,
    ...paragraphs.map((text) => `<p style="${TEXT}">${escape(text)}</p>`),
    ...(rows.length > 0 ? [`<table role="presentation" style="${TEXT}">${rows.join('')}</table>`] : []),
    ...(link
      ? [
          `<p style="${TEXT}"><a href="${escape(link.url)}" style="display:inline-block;padding:8px 16px;background:#1f6f54;color:#fff;border-radius:6px;text-decoration:none">${escape(link.label)}</a></p>`,
          `<p style="${FAINT};overflow-wrap:anywhere">${escape(link.url)}</p>`,
        ]
      : []),
    ...notes.map((text) => `<p style="${FAINT}">${escape(text)}</p>`),
    '</div></body></html>',
    '',
  ].join('\n');
}

/** Names are written by customers. */
function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '<br>');
}
