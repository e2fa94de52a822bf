// Runs before the first paint. A separate file, since the content security policy allows no inline script.
(() => {
  const chosen = localStorage.getItem('theme') ?? 'system';
  const dark =
    chosen === 'dark' || (chosen === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
