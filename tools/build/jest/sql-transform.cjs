// Imports of .sql files become their text, as esbuild's text loader does in the build.
module.exports = {
  process: (text) => ({ code: `module.exports = { __esModule: true, default: ${JSON.stringify(text)} };` }),
};
