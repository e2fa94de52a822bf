/** SQL files are imported as text: esbuild's text loader, and tools/build/jest/sql-transform.cjs in tests. */
declare module '*.sql' {
  const text: string;
  export default text;
}
