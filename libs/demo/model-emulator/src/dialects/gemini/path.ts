/** The path of a call: any version, any project, then the model and the method. */
export const METHOD =
  /^\/v1(?:beta1?|alpha)?(?:\/[^:]+)?\/models\/([^/]+):(generateContent|streamGenerateContent)$/;
