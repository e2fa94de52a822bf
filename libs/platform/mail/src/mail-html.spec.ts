import { mailHtml } from './mail-html';

const content = {
  subject: 'Credit of <b>Acme</b>',
  paragraphs: ['<script>alert(1)</script>'],
  facts: [['Name', '"Acme" & <img src=x>']] as const,
  link: { label: 'Open', url: 'https://example.com/?a=1&b="><i>' },
  notes: ['<a href="https://evil.example">'],
};

it('shows texts of customers as text', () => {
  const html = mailHtml(content);
  for (const tag of ['<b>', '<script', '<img', '<i>', '<a href="https://evil'])
    expect(html).not.toContain(tag);
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(html).toContain('href="https://example.com/?a=1&amp;b=&quot;&gt;&lt;i&gt;"');
});

it('loads nothing from elsewhere', () => {
  expect(mailHtml(content)).not.toMatch(/<(?:img|link|script|style|iframe)\b|@import|url\(/);
});
